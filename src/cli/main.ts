import { CommanderError } from 'commander'
import { EXIT } from './exit-codes.ts'
import { createProgram } from './program.ts'

/** The command `colophon`. Leaves the exit code in `process.exitCode`; see {@link EXIT}. `argv` is that of the process. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(argv)
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage
  }
}

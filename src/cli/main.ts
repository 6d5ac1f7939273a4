import { CommanderError } from 'commander'
import { EXIT } from './terminal/exit-codes.ts'
import { createProgram } from './program.ts'

/** The command `colophon`. Leaves the exit code in `process.exitCode`; see {@link EXIT}. `argv` is that of the process. */
export async function main(argv: readonly string[]): Promise<void> {
  // Help and version are written by commander; a reader that has gone, as in `colophon --help | head`, is no error.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  try {
    await createProgram().parseAsync(argv)
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage
  }
}

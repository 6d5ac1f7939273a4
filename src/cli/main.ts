import { CommanderError } from 'commander'
import { EXIT } from './terminal/exit-codes.ts'
import { createProgram } from './program.ts'

/** Runs the command `colophon` with the arguments of the process. Sets `process.exitCode`; see {@link EXIT}. */
export async function main(argv: readonly string[]): Promise<void> {
  // Commander writes help and version; a reader that closes the pipe early, as in `colophon --help | head`, is no
  // error.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  try {
    await createProgram().parseAsync(argv)
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage
  }
}

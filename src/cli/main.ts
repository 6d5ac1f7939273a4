import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { serveCommand } from './serve-command.ts'

/**
 * The command `colophon`. Leaves the exit code in `process.exitCode`: 0 done, 1 could not be done, 2 wrong usage.
 * `argv` is that of the process.
 */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('colophon')
    .description('Serves a sheet whose every cell can say where it came from.')
    .version(packageVersion(), '--version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
  program.addCommand(serveCommand())
  for (const command of [program, ...program.commands]) {
    command
      .exitOverride()
      .showHelpAfterError(`(colophon ${command === program ? '' : `${command.name()} `}--help tells more)`)
  }
  try {
    await program.parseAsync(argv)
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    process.exitCode = error.exitCode === 0 ? 0 : 2
  }
}

/** The same path from `src/cli` as from `dist/cli`. */
function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

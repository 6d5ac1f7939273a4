import { Command } from 'commander'
import { cacheCommand } from './cache-command.ts'
import { completionCommand } from './completion-command.ts'
import { contractCommand } from './contract-command.ts'
import { countCommand } from './count-command.ts'
import { deleteCommand } from './delete-command.ts'
import { derivationsCommand } from './derivations-command.ts'
import { exportCommand } from './export-command.ts'
import { getCommand } from './get-command.ts'
import { importCommand } from './import-command.ts'
import { initCommand } from './init-command.ts'
import { listCommand } from './list-command.ts'
import { materializeCommand } from './materialize-command.ts'
import { mcpCommand } from './mcp-command.ts'
import { packageVersion } from './package-version.ts'
import { proposalsCommand } from './proposals-command.ts'
import { provenanceCommand } from './provenance-command.ts'
import { pullCommand } from './pull-command.ts'
import { pushCommand } from './push-command.ts'
import { queryCommand } from './query-command.ts'
import { revertCommand } from './revert-command.ts'
import { runsCommand } from './runs-command.ts'
import { serveCommand } from './serve-command.ts'
import { statusCommand } from './status-command.ts'
import { summaryCommand } from './summary-command.ts'
import { upsertCommand } from './upsert-command.ts'
import { validateCommand } from './validate-command.ts'
import { workerCommand } from './worker-command.ts'

/** In the order of the help. Each loads what it needs when it is run. */
const COMMANDS = [
  initCommand,
  serveCommand,
  validateCommand,
  contractCommand,
  listCommand,
  countCommand,
  summaryCommand,
  getCommand,
  upsertCommand,
  deleteCommand,
  queryCommand,
  importCommand,
  exportCommand,
  derivationsCommand,
  materializeCommand,
  cacheCommand,
  statusCommand,
  provenanceCommand,
  runsCommand,
  revertCommand,
  proposalsCommand,
  pushCommand,
  pullCommand,
  workerCommand,
  mcpCommand,
  completionCommand,
]

/** The command `colophon` with all its commands. Parsing throws CommanderError for wrong usage, and after help. */
export function createProgram(): Command {
  const program = new Command('colophon')
    .description('Serve a sheet whose every cell can say where it came from.')
    .version(packageVersion(), '--version')
    .helpCommand(false)
    .enablePositionalOptions()
  for (const command of COMMANDS) program.addCommand(command())
  setUp(program, 'colophon')
  return program
}

/** Has a command and those below it throw for wrong usage, and say where there is help. `name` is how it is called. */
function setUp(command: Command, name: string): void {
  command
    .helpOption('-h, --help', 'show help')
    .exitOverride()
    .showHelpAfterError(`(${name} --help tells more)`)
  for (const child of command.commands) setUp(child, `${name} ${child.name()}`)
}

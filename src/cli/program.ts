import { Command } from 'commander'
import { cacheCommand } from './commands/runs/cache-command.ts'
import { checkpointCommand } from './commands/proof/checkpoint-command.ts'
import { proofCommand } from './commands/proof/proof-command.ts'
import { signKeyCommand } from './commands/proof/sign-key-command.ts'
import { completionCommand } from './completion/completion-command.ts'
import { contractCommand } from './commands/definition/contract-command.ts'
import { countCommand } from './commands/records/count-command.ts'
import { deleteCommand } from './commands/records/delete-command.ts'
import { eraseCommand } from './commands/records/erase-command.ts'
import { deletedCommand } from './commands/records/deleted-command.ts'
import { derivationCommand } from './commands/definition/derivation-command.ts'
import { derivationsCommand } from './commands/definition/derivations-command.ts'
import { exportCommand } from './commands/transfer/export-command.ts'
import { fieldCommand } from './commands/definition/field-command.ts'
import { getCommand } from './commands/records/get-command.ts'
import { historyCommand } from './commands/definition/history-command.ts'
import { importCommand } from './commands/transfer/import-command.ts'
import { initCommand } from './commands/definition/init-command.ts'
import { listCommand } from './commands/records/list-command.ts'
import { materializeCommand } from './commands/runs/materialize-command.ts'
import { mcpCommand } from './commands/serve/mcp-command.ts'
import { mergeDriverCommand } from './commands/transfer/merge-driver-command.ts'
import { packageVersion } from '../package/package-files.ts'
import { proposalsCommand } from './commands/records/proposals-command.ts'
import { provenanceCommand } from './commands/records/provenance-command.ts'
import { reviewsCommand } from './commands/records/reviews-command.ts'
import { pullCommand } from './commands/definition/pull-command.ts'
import { pushCommand } from './commands/definition/push-command.ts'
import { queryCommand } from './commands/records/query-command.ts'
import { replayCommand } from './commands/transfer/replay-command.ts'
import { revertCommand } from './commands/runs/revert-command.ts'
import { runsCommand } from './commands/runs/runs-command.ts'
import { serveCommand } from './commands/serve/serve-command.ts'
import { statusCommand } from './commands/runs/status-command.ts'
import { summaryCommand } from './commands/records/summary-command.ts'
import { upsertCommand } from './commands/records/upsert-command.ts'
import { validateCommand } from './commands/definition/validate-command.ts'
import { verifyCommand } from './commands/proof/verify-command.ts'
import { workerCommand } from './commands/serve/worker-command.ts'

/** The commands in the order of the help. Each loads its dependencies when it is run. */
const COMMANDS = [
  initCommand,
  serveCommand,
  validateCommand,
  verifyCommand,
  contractCommand,
  listCommand,
  countCommand,
  summaryCommand,
  getCommand,
  upsertCommand,
  deleteCommand,
  deletedCommand,
  eraseCommand,
  queryCommand,
  importCommand,
  exportCommand,
  replayCommand,
  derivationsCommand,
  derivationCommand,
  fieldCommand,
  historyCommand,
  materializeCommand,
  cacheCommand,
  statusCommand,
  provenanceCommand,
  reviewsCommand,
  runsCommand,
  revertCommand,
  proposalsCommand,
  checkpointCommand,
  proofCommand,
  signKeyCommand,
  pushCommand,
  pullCommand,
  mergeDriverCommand,
  workerCommand,
  mcpCommand,
  completionCommand,
]

/**
 * Creates the command `colophon` with all its commands. Parsing throws CommanderError for wrong usage, and after help.
 */
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

/**
 * Configures a command and its subcommands to throw for wrong usage and to refer to the help. `name` is its full name.
 */
function setUp(command: Command, name: string): void {
  command.helpOption('-h, --help', 'show help').exitOverride().showHelpAfterError(`(see ${name} --help)`)
  for (const child of command.commands) setUp(child, `${name} ${child.name()}`)
}

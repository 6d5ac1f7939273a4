import { Command, Option } from 'commander'
import { parseAllowedNet } from './option-values.ts'

/** The parsed options of {@link addCallOptions}. */
export interface CallFlags {
  readonly stub?: string
  readonly allowNet: readonly string[]
  readonly offline?: true | undefined
  readonly allowScripts?: 'confined' | 'unconfined'
}

/** Returns the hosts that derivations may call; an empty set allows none, null allows all. */
export function callableHosts({
  offline,
  allowNet,
}: Pick<CallFlags, 'offline' | 'allowNet'>): ReadonlySet<string> | null {
  if (offline === true) return new Set()
  return allowNet.length === 0 ? null : new Set(allowNet)
}

/** Adds `--log-level`. */
export function addLogLevel(command: Command): Command {
  return command.addOption(
    new Option('--log-level <level>', 'least serious messages to log on standard error')
      .choices(['debug', 'info', 'warn', 'error', 'silent'])
      .default('info'),
  )
}

/** Adds `--allow-scripts`. */
export function addScriptOption(
  command: Command,
  description = 'run the scripts of the sheet: confined, or unconfined with all that this user may do',
): Command {
  // Otherwise the argument after the option would be its value, such as the sheet.
  command.parseOptions = (args) => {
    const end = args.indexOf('--')
    const isBare = (arg: string, index: number): boolean =>
      arg === '--allow-scripts' && (end === -1 || index < end)
    return Command.prototype.parseOptions.call(
      command,
      args.map((arg, index) => (isBare(arg, index) ? '--allow-scripts=confined' : arg)),
    )
  }
  return command.addOption(
    new Option('--allow-scripts [how]', description).choices(['confined', 'unconfined']),
  )
}

/** Adds the options that limit the calls and scripts of derivations. */
export function addCallOptions(command: Command): Command {
  command
    .option('--stub <file>', 'take the responses to calls from this JSON file instead of the network')
    .addOption(
      new Option(
        '--allow-net <hosts>',
        'hosts that derivations may call: host or host:port, separated by commas; may be repeated',
      )
        .argParser((text, earlier: readonly string[]) => [...earlier, ...parseAllowedNet(text)])
        .default([], 'all'),
    )
    .addOption(new Option('--offline', 'let derivations make no calls').conflicts('allowNet'))
  return addScriptOption(command)
}

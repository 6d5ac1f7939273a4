import { Option, type Command } from 'commander'
import { parseAllowedNet } from './option-values.ts'

/** The parsed options of {@link addCallOptions}. */
export interface CallFlags {
  readonly stub?: string
  readonly allowNet: readonly string[]
  readonly offline?: true | undefined
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

/** Adds the options that limit the calls of derivations. */
export function addCallOptions(command: Command): Command {
  return command
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
}

import { Option, type Command } from 'commander'
import { parseAllowedNet } from './option-values.ts'

/** What commander makes of {@link addCallOptions}. */
export interface CallFlags {
  readonly stub?: string
  readonly allowNet: readonly string[]
  readonly offline?: true | undefined
}

/** The only hosts that derivations may call; none when it is empty, all for null. */
export function callableHosts({
  offline,
  allowNet,
}: Pick<CallFlags, 'offline' | 'allowNet'>): ReadonlySet<string> | null {
  if (offline === true) return new Set()
  return allowNet.length === 0 ? null : new Set(allowNet)
}

/** Adds how much is logged. */
export function addLogLevel(command: Command): Command {
  return command.addOption(
    new Option('--log-level <level>', 'least serious messages to log on standard error')
      .choices(['debug', 'info', 'warn', 'error', 'silent'])
      .default('info'),
  )
}

/** Adds the options that say whom derivations may call. */
export function addCallOptions(command: Command): Command {
  return command
    .option(
      '--stub <file>',
      'answer the calls of http derivations from this JSON file instead of the network',
    )
    .addOption(
      new Option(
        '--allow-net <hosts>',
        'the only hosts that derivations may call: host or host:port, with commas between; may be repeated',
      )
        .argParser((text, earlier: readonly string[]) => [...earlier, ...parseAllowedNet(text)])
        .default([], 'all'),
    )
    .addOption(new Option('--offline', 'let derivations call nobody').conflicts('allowNet'))
}

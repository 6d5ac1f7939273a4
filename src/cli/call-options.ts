import { Option, type Command } from 'commander'
import { parseAllowedNet } from './option-values.ts'

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

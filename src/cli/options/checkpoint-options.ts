import { Option, type Command } from 'commander'
import type { SheetOptions } from '../../sheet/open-sheet.ts'

/** The parsed options of {@link addCheckpointOptions}. */
export interface CheckpointFlags {
  readonly signKey?: string
  readonly publish?: string
}

/** Adds `--sign-key` and `--publish`, about checkpoints of the log. */
export function addCheckpointOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--sign-key <file>', 'private key that signs checkpoints of the log').env(
        'COLOPHON_SIGN_KEY',
      ),
    )
    .addOption(
      new Option(
        '--publish <command>',
        'shell command that is run for each checkpoint of the log, which is its standard input',
      ).env('COLOPHON_PUBLISH'),
    )
}

/** Returns what {@link addCheckpointOptions} adds to the options of a sheet. */
export function checkpointOptions({
  signKey,
  publish,
}: CheckpointFlags): Pick<SheetOptions, 'signKey' | 'publish'> {
  return { signKey: signKey ?? null, publish: publish ?? null }
}

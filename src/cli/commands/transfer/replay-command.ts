import { Command } from 'commander'
import { addScriptOption, type CallFlags } from '../../options/call-options.ts'
import { addOutputOptions, withOutput, type OutputFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { maxSizeOption } from '../../options/max-size-option.ts'
import { UsageError } from '../../options/usage-error.ts'

interface Flags extends OutputFlags, Pick<CallFlags, 'allowScripts'> {
  readonly with?: string
  readonly maxSize: number
}

/** `colophon replay <archive>`. */
export function replayCommand(): Command {
  const command = new Command('replay')
    .description(
      'Compute the cells of an archive again from the recording of their calls, without any network, and compare them.',
    )
    .argument('<archive>', 'archive that "colophon export --format archive --with-recording" wrote')
    .option(
      '--with <directory>',
      'take the definition files of this directory instead of those of the archive, where it has them',
    )
    .addOption(maxSizeOption())
  addScriptOption(command, 'run the scripts of the archive: confined; unconfined is refused')
  addExamples(command, [
    ['colophon replay countries.zip', 'Whether the recorded responses make the same sheet'],
    ['colophon replay countries.zip --with countries', 'What a changed definition would have made of them'],
  ])
  return addOutputOptions(command).action((archive: string, flags: Flags) =>
    withOutput(flags, async (out) => {
      const { allowScripts = 'off' } = flags
      if (allowScripts === 'unconfined') {
        throw new UsageError(
          '--allow-scripts=unconfined does not apply to replay: scripts could reach the network, and a replay makes no calls; run them confined with --allow-scripts',
        )
      }
      const { runReplay } = await import('./run-replay.ts')
      return runReplay(out, {
        file: archive,
        maxBytes: flags.maxSize,
        replacements: flags.with ?? null,
        scripts: allowScripts,
      })
    }),
  )
}

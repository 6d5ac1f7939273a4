import { Command } from 'commander'
import { addOutputOptions, withOutput, type OutputFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { maxSizeOption } from '../../options/max-size-option.ts'
import { addStoreOption, onSheet, type StoreFlags } from '../../options/sheet-argument.ts'

interface Flags extends OutputFlags, StoreFlags {
  readonly sheet: string
  readonly checkpoint?: string
  readonly key?: string
  readonly source?: string
  readonly maxSize: number
}

/** `colophon verify <sheet>`. */
export function verifyCommand(): Command {
  const command = new Command('verify')
    .description(
      'Compare the records of a sheet with its log, and the log with checkpoints, or verify the proof of a cell. Changes nothing.',
    )
    .argument(
      '<sheet>',
      'directory of the sheet, its archive, or a file of `colophon proof`; omit it with --store',
    )
    .option('--checkpoint <file>', 'one or more checkpoints that somebody else has kept')
    .option('--key <file>', 'public key that must have signed the checkpoints')
    .option(
      '--source <file>',
      'records.jsonl that the sheet was imported from (default: that of the sheet, if it is the same)',
    )
    .addOption(maxSizeOption())
  addExamples(command, [
    ['colophon verify proof.json --key countries.pub', 'The proof of a cell'],
    ['colophon verify countries', 'Replay the log, and compare it with the records'],
    [
      'colophon verify countries.zip --checkpoint kept.txt --key countries.pub',
      'An archive, with a checkpoint that somebody else has kept',
    ],
  ])
  return addStoreOption(addOutputOptions(command)).action(
    onSheet(({ sheet, checkpoint, key, source, maxSize, ...flags }: Flags) =>
      withOutput(flags, async (out) => {
        const options = {
          checkpoint: checkpoint ?? null,
          key: key ?? null,
          source: source ?? null,
          maxBytes: maxSize,
        }
        const { isProofFile } = await import('../../../sheet/verify/verify-proof.ts')
        if (isProofFile(sheet)) {
          const { printVerifiedProof } = await import('./print-verified-proof.ts')
          return printVerifiedProof(out, sheet, options)
        }
        const { runVerify } = await import('./run-verify.ts')
        return runVerify(out, sheet, options)
      }),
    ),
  )
}

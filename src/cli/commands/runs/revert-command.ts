import { Command, Option } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { integerBetween } from '../../options/option-values.ts'
import type { ProgressStyle } from '../../terminal/progress.ts'
import { parseList } from '../../options/record-options.ts'
import { progressOption } from '../../options/progress-option.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

interface Flags extends SheetFlags {
  readonly run?: string
  readonly record?: string
  readonly field?: string
  readonly seq?: number
  readonly ids?: readonly string[]
  readonly progress?: ProgressStyle
}

/** `colophon revert <sheet>`. */
export function revertCommand(): Command {
  const command = addSheetArgument(
    new Command('revert').description(
      'Revert what a run wrote, what one entry of the provenance log did, or the deletion of records.',
    ),
  )
    .addOption(new Option('--run <number>', 'the run to revert').conflicts(['record', 'field', 'seq', 'ids']))
    .option('--record <id>', 'the record of the cell, or the deleted record')
    .option('--field <name>', 'the field of the cell; omit it to restore a deleted record')
    .addOption(
      new Option(
        '--seq <number>',
        'the provenance entry of the cell to revert, or the deletion of the record',
      ).argParser(integerBetween(1, Number.MAX_SAFE_INTEGER)),
    )
    .addOption(
      new Option(
        '--ids <ids>',
        'restore these deleted records, all or none; separated by commas; - reads them from standard input, one per line',
      )
        .argParser(parseList)
        .conflicts(['record', 'field', 'seq']),
    )
    .addOption(progressOption())
  addExamples(command, [
    ['colophon revert countries --run 3 --actor human:ann', 'Revert all changes of run 3'],
    [
      'colophon revert countries --record CH --field currency_name --seq 42 --actor human:ann',
      'Revert a change of one cell; `colophon provenance` shows the seq',
    ],
    ['colophon revert countries --ids XK,TW --actor human:ann', 'Restore records that were deleted'],
  ])
  return addSheetOptions(command, { writes: true }).action(
    onSheet((flags: Flags) =>
      withSheet(flags, async (context) => {
        const { runRevert } = await import('./run-revert.ts')
        const { run: runId, record: recordId, field, seq, ids, progress = null } = flags
        return runRevert(context, { runId, recordId, field, seq, ids }, progress)
      }),
    ),
  )
}

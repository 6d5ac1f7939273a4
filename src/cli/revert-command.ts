import { Command, Option } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from './command-context.ts'
import { addExamples } from './examples.ts'
import { integerBetween } from './option-values.ts'
import type { ProgressStyle } from './progress.ts'
import { progressOption } from './progress-option.ts'
import { addSheetArgument, onSheet } from './sheet-argument.ts'

interface Flags extends SheetFlags {
  readonly run?: string
  readonly record?: string
  readonly field?: string
  readonly seq?: number
  readonly progress?: ProgressStyle
}

/** `colophon revert <sheet>`. */
export function revertCommand(): Command {
  const command = addSheetArgument(
    new Command('revert').description(
      'Takes back what a run wrote, or what one entry of the provenance log did.',
    ),
  )
    .addOption(new Option('--run <number>', 'the run to take back').conflicts(['record', 'field', 'seq']))
    .option('--record <id>', 'the record of the cell')
    .option('--field <name>', 'the field of the cell')
    .addOption(
      new Option('--seq <number>', 'the provenance entry of the cell to take back').argParser(
        integerBetween(1, Number.MAX_SAFE_INTEGER),
      ),
    )
    .addOption(progressOption())
  addExamples(command, [
    ['colophon revert countries --run 3 --actor human:ann', 'Put back all that run 3 changed'],
    [
      'colophon revert countries --record CH --field currency_name --seq 42 --actor human:ann',
      'Put back one cell; `colophon provenance` tells the seq',
    ],
  ])
  return addSheetOptions(command, { writes: true }).action(
    onSheet((flags: Flags) =>
      withSheet(flags, async (context) => {
        const { runRevert } = await import('./run-revert.ts')
        const { run: runId, record: recordId, field, seq, progress = null } = flags
        return runRevert(context, { runId, recordId, field, seq }, progress)
      }),
    ),
  )
}

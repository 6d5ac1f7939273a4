import { Command } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

/** `colophon restore <sheet> <ids...>`. */
export function restoreCommand(): Command {
  const command = addSheetArgument(
    new Command('restore').description(
      'Restore deleted records with their last values, all or none. The same as revert --ids.',
    ),
  ).argument('<ids...>', 'ids of deleted records; - reads them from standard input, one per line')
  addExamples(command, [
    [
      'colophon restore countries XK TW --actor human:ann',
      'Restore two records; `colophon deleted` lists them',
    ],
  ])
  return addSheetOptions(command, { writes: true }).action(
    onSheet((flags: SheetFlags, ids: readonly string[]) =>
      withSheet(flags, async (context) => {
        const { runRevert } = await import('../runs/run-revert.ts')
        const nothingElse = { runId: undefined, recordId: undefined, field: undefined, seq: undefined }
        return runRevert(context, { ...nothingElse, ids }, null)
      }),
    ),
  )
}

import { Command } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { addSheetArgument, onSheet, sheetWords } from '../../options/sheet-argument.ts'

interface Flags extends SheetFlags {
  readonly yes?: true
  readonly dryRun?: true
}

/** `colophon delete <sheet> <id...>`. */
export function deleteCommand(): Command {
  const command = addSheetArgument(
    new Command('delete').description('Delete records, all or none. Asks at a terminal.'),
  )
    .argument('<ids...>', 'ids of the records; - reads them from standard input, one per line')
    .option('--dry-run', 'only show how many records would be deleted, and which ids no record has')
    .option('-y, --yes', 'do not ask')
  addExamples(command, [
    ['colophon delete countries XK --actor human:ann', 'One record, after confirmation'],
    ['colophon delete countries XK TW --dry-run --actor human:ann', 'What it would delete'],
    [
      `colophon query countries "SELECT id FROM records WHERE NOT independent" --format ndjson | jq -r .id |\n    colophon delete countries - --actor human:ann`,
      'The results of a query',
    ],
  ])
  return addSheetOptions(command, { writes: true }).action(
    onSheet((flags: Flags, ids: readonly string[]) =>
      withSheet(flags, async (context) => {
        const { runDelete, showDelete } = await import('./run-delete.ts')
        if (flags.dryRun === true) return showDelete(context, ids)
        return runDelete(context, { ids, ask: flags.yes !== true, sheetName: sheetWords(flags.sheet) })
      }),
    ),
  )
}

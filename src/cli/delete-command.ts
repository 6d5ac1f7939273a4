import { Command } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from './command-context.ts'
import { addExamples } from './examples.ts'
import { addSheetArgument, onSheet, sheetWords } from './sheet-argument.ts'

interface Flags extends SheetFlags {
  readonly yes?: true
}

/** `colophon delete <sheet> <id...>`. */
export function deleteCommand(): Command {
  const command = addSheetArgument(
    new Command('delete').description('Deletes records, all or none. Asks at a terminal.'),
  )
    .argument('<ids...>', 'ids of the records; - reads them from standard input, one to a line')
    .option('-y, --yes', 'do not ask')
  addExamples(command, [
    ['colophon delete countries XK --actor human:ann', 'One record, after a question'],
    [
      `colophon query countries "SELECT id FROM records WHERE NOT independent" --format ndjson | jq -r .id |\n    colophon delete countries - --actor human:ann`,
      'What a query finds',
    ],
  ])
  return addSheetOptions(command, { writes: true }).action(
    onSheet((flags: Flags, ids: readonly string[]) =>
      withSheet(flags, async (context) => {
        const { runDelete } = await import('./run-delete.ts')
        return runDelete(context, { ids, ask: flags.yes !== true, sheetName: sheetWords(flags.sheet) })
      }),
    ),
  )
}

import { Command, Option } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { parseList } from '../../options/record-options.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

interface Flags extends SheetFlags {
  readonly target?: readonly string[]
}

/** `colophon status <sheet>`. */
export function statusCommand(): Command {
  const command = addSheetArgument(
    new Command('status').description(
      'Show the states of the derived fields, or why one cell is in its state.',
    ),
  )
    .argument('[id]', 'id of a record, for one cell')
    .argument('[field]', 'derived field of the cell')
    .addOption(
      new Option('--target <names>', 'only these derived fields, separated by commas').argParser(parseList),
    )
  addExamples(command, [
    [
      'colophon status countries',
      'How many cells are fresh, stale, missing, failed, overridden, and blocked',
    ],
    ['colophon status countries CH currency_name', 'The reasons for the state of a cell'],
  ])
  return addSheetOptions(command).action(
    onSheet((flags: Flags, id: string | undefined, field: string | undefined) =>
      withSheet(flags, async (context) => {
        const { printCellStatus, printStatus } = await import('./print-status.ts')
        if (id === undefined) return printStatus(context, flags.target ?? null)
        return printCellStatus(context, { id, field })
      }),
    ),
  )
}

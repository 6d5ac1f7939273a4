import { Command } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

interface Flags extends SheetFlags {
  readonly history?: true
}

/** `colophon provenance <sheet> <id> [field]`. */
export function provenanceCommand(): Command {
  const command = addSheetArgument(
    new Command('provenance').description(
      'Show where the value of a cell came from, or all changes of a record.',
    ),
  )
    .argument('<id>', 'id of the record')
    .argument('[field]', 'field of the cell; without one, the values of all fields are listed')
    .option('--history', 'list every value that the cell has had, oldest first')
  addExamples(command, [
    ['colophon provenance countries CH currency_name', 'Who or what wrote the present value'],
    ['colophon provenance countries CH currency_name --history', 'All values'],
    ['colophon provenance countries CH', 'All values of all fields of a record'],
  ])
  return addSheetOptions(command).action(
    onSheet((flags: Flags, id: string, field?: string) =>
      withSheet(flags, async (context) => {
        const { printHistory, printProvenance } = await import('./print-provenance.ts')
        if (flags.history === true || field === undefined)
          await printHistory(context, { recordId: id, field: field ?? null })
        else await printProvenance(context, { recordId: id, field })
      }),
    ),
  )
}

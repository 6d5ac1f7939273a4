import { Command } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from './command-context.ts'
import { addExamples } from './examples.ts'

interface Flags extends Omit<SheetFlags, 'sheet'> {
  readonly history?: true
}

/** `colophon provenance <sheet> <id> <field>`. */
export function provenanceCommand(): Command {
  const command = new Command('provenance')
    .description('Shows where the value of a cell came from.')
    .argument('<sheet>', 'directory of the sheet')
    .argument('<id>', 'id of the record')
    .argument('<field>', 'field of the cell')
    .option('--history', 'every value that the cell has had, the oldest first')
  addExamples(command, [
    ['colophon provenance countries CH currency_name', 'Who or what wrote the value that is there'],
    ['colophon provenance countries CH currency_name --history', 'All that were there'],
  ])
  return addSheetOptions(command).action((sheet: string, id: string, field: string, flags: Flags) =>
    withSheet({ ...flags, sheet }, async (context) => {
      const { printProvenance } = await import('./print-provenance.ts')
      await printProvenance(context, { recordId: id, field, history: flags.history ?? false })
    }),
  )
}

import { Command } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

/** `colophon proof <sheet> <id> <field>`. */
export function proofCommand(): Command {
  const command = addSheetArgument(
    new Command('proof').description(
      'Prove where the value of a cell came from: one file that others verify without the sheet.',
    ),
  )
    .argument('<id>', 'id of the record')
    .argument('<field>', 'field of the cell')
  addExamples(command, [
    [
      'colophon proof countries CH currency_name > proof.json',
      'The line of the log, its proof and a checkpoint',
    ],
    ['colophon proof countries CH name > p.json && colophon verify p.json', 'Whether it holds'],
  ])
  return addSheetOptions(command, { writes: true, prints: false, names: false }).action(
    onSheet((flags: SheetFlags, id: string, field: string) =>
      withSheet(flags, async (context) => {
        const { printProof } = await import('./print-checkpoint.ts')
        await printProof(context, { recordId: id, field })
      }),
    ),
  )
}

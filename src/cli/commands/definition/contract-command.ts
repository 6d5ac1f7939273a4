import { Command } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

/** `colophon contract <sheet>`. */
export function contractCommand(): Command {
  const command = addSheetArgument(
    new Command('contract').description(
      'Show the fields of the contract; as JSON, the whole validated contract.',
    ),
  )
  addExamples(command, [
    ['colophon contract countries', 'Each field with its type and its derivation'],
    [
      `colophon contract countries --json | jq -r '.schema[0].properties[].name'`,
      'The names of the fields, for a script',
    ],
  ])
  return addSheetOptions(command).action(
    onSheet((flags: SheetFlags) =>
      withSheet(flags, async (context) => {
        const { printContract } = await import('./print-contract.ts')
        await printContract(context)
      }),
    ),
  )
}

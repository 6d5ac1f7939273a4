import { Command } from 'commander'
import { addOutputOptions, withOutput, type OutputFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { addSheetArgument, addStoreOption, onSheet, type StoreFlags } from '../../options/sheet-argument.ts'

interface Flags extends OutputFlags, StoreFlags {
  readonly sheet: string
  readonly records?: true
}

/** `colophon validate <sheet>`. */
export function validateCommand(): Command {
  const command = addSheetArgument(
    new Command('validate').description(
      'Check contract, derivations and transport.yaml, and whether the store can be opened with them.',
    ),
  ).option('--records', 'also in every record: of the store, or of records.jsonl where there is none yet')
  addExamples(command, [
    ['colophon validate countries', 'Faults as file:line: message, and exit code 1 if there are any'],
    ['colophon validate countries --records', 'The records too'],
  ])
  return addStoreOption(addOutputOptions(command)).action(
    onSheet((flags: Flags) =>
      withOutput(flags, async (out) => {
        const { printFaults } = await import('./print-faults.ts')
        return printFaults(out, flags.sheet, { records: flags.records ?? false })
      }),
    ),
  )
}

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
  ).option(
    '--records',
    'validate every record too: of the store, or of records.jsonl if there is no store yet',
  )
  addExamples(command, [
    ['colophon validate countries', 'Errors as file:line: message, with exit code 1 if there are any'],
    ['colophon validate countries --records', 'The records too'],
  ])
  return addStoreOption(addOutputOptions(command)).action(
    onSheet((flags: Flags) =>
      withOutput(flags, async (out) => {
        const { runValidate } = await import('./run-validate.ts')
        return runValidate(out, flags.sheet, { records: flags.records ?? false })
      }),
    ),
  )
}

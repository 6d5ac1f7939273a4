import { Command } from 'commander'
import { addOutputOptions, withOutput, type OutputFlags } from './command-context.ts'
import { addExamples } from './examples.ts'

interface Flags extends OutputFlags {
  readonly records?: true
}

/** `colophon validate <sheet>`. */
export function validateCommand(): Command {
  const command = new Command('validate')
    .description('Looks for faults in contract, derivations and transport.yaml.')
    .argument('<sheet>', 'directory of the sheet')
    .option('--records', 'also in every record: of the store, or of records.jsonl where there is none yet')
  addExamples(command, [
    ['colophon validate countries', 'Faults as file:line: message, and exit code 1 if there are any'],
    ['colophon validate countries --records', 'The records too'],
  ])
  return addOutputOptions(command).action((sheet: string, flags: Flags) =>
    withOutput(flags, async (out) => {
      const { printFaults } = await import('./print-faults.ts')
      return printFaults(out, sheet, { records: flags.records ?? false })
    }),
  )
}

import { Command } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from './command-context.ts'
import { addExamples } from './examples.ts'
import { asOfOption, fieldsOption } from './record-options.ts'

interface Flags extends Omit<SheetFlags, 'sheet'> {
  readonly fields?: readonly string[]
  readonly asOf?: string
}

/** `colophon get <sheet> <id>`. */
export function getCommand(): Command {
  const command = new Command('get')
    .description('Shows one record.')
    .argument('<sheet>', 'directory of the sheet')
    .argument('<id>', 'id of the record')
    .addOption(fieldsOption())
    .addOption(asOfOption())
  addExamples(command, [
    ['colophon get countries CH', 'One record'],
    [
      'colophon get countries CH --fields name,capital --as-of 42',
      'Two fields of it, as they were after entry 42 of the log',
    ],
  ])
  return addSheetOptions(command).action((sheet: string, id: string, flags: Flags) =>
    withSheet({ ...flags, sheet }, async (context) => {
      const { printRecord } = await import('./print-record.ts')
      await printRecord(context, { id, fields: flags.fields ?? null, asOf: flags.asOf ?? null })
    }),
  )
}

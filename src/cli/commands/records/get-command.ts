import { Command } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { asOfOption, fieldsOption } from '../../options/record-options.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

interface Flags extends SheetFlags {
  readonly fields?: readonly string[]
  readonly asOf?: string
}

/** `colophon get <sheet> <id>`. */
export function getCommand(): Command {
  const command = addSheetArgument(new Command('get').description('Show one record.'))
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
  return addSheetOptions(command).action(
    onSheet((flags: Flags, id: string) =>
      withSheet(flags, async (context) => {
        const { printRecord } = await import('./print-record.ts')
        await printRecord(context, { id, fields: flags.fields ?? null, asOf: flags.asOf ?? null })
      }),
    ),
  )
}

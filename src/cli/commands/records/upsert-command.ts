import { Command, Option } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import type { DateOrder } from '../../../sheet/transfer/read-file-options.ts'
import { dateOrderOption } from '../../options/date-order-option.ts'
import { addExamples } from '../../options/examples.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

const INPUT_FORMATS = ['csv', 'json', 'ndjson', 'parquet', 'xlsx'] as const

interface Flags extends SheetFlags {
  readonly inputFormat?: (typeof INPUT_FORMATS)[number]
  readonly dateOrder?: DateOrder
}

/** `colophon upsert <sheet> [file]`. */
export function upsertCommand(): Command {
  const command = addSheetArgument(
    new Command('upsert').description('Insert records, and merge those that exist.'),
  )
    .argument('[file]', 'file of records; standard input when absent or -')
    .addOption(
      new Option(
        '--input-format <format>',
        'format of the input (default: by the name of the file, or by the start of standard input)',
      ).choices(INPUT_FORMATS),
    )
    .addOption(dateOrderOption())
  addExamples(command, [
    ['colophon upsert countries new.csv --actor human:ann', 'The records of a file'],
    [
      `echo '{"id": "CH", "capital": "Bern"}' | colophon upsert countries --actor human:ann`,
      'One field of one record',
    ],
    [
      'tail -f events.ndjson | colophon upsert events --actor agent:tail',
      'Lines of a stream, each stored at once',
    ],
  ])
  return addSheetOptions(command, { writes: true }).action(
    onSheet((flags: Flags, file: string | undefined) =>
      withSheet(flags, async (context) => {
        const { runUpsert } = await import('./run-upsert.ts')
        await runUpsert(context, {
          file: file ?? '-',
          format: flags.inputFormat ?? null,
          dateOrder: flags.dateOrder ?? null,
        })
      }),
    ),
  )
}

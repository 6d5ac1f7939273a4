import { Command, Option } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from './command-context.ts'
import { addExamples } from './examples.ts'

const INPUT_FORMATS = ['csv', 'json', 'ndjson', 'parquet', 'xlsx'] as const

interface Flags extends Omit<SheetFlags, 'sheet'> {
  readonly inputFormat?: (typeof INPUT_FORMATS)[number]
}

/** `colophon upsert <sheet> [file]`. */
export function upsertCommand(): Command {
  const command = new Command('upsert')
    .description('Inserts records, and merges those that are there already.')
    .argument('<sheet>', 'directory of the sheet')
    .argument('[file]', 'file of records; standard input when absent or -')
    .addOption(
      new Option(
        '--input-format <format>',
        'what the input is; by the name of a file, or by how standard input begins',
      ).choices(INPUT_FORMATS),
    )
  addExamples(command, [
    ['colophon upsert countries new.csv --actor human:ann', 'The records of a file'],
    [
      `echo '{"id": "CH", "capital": "Bern"}' | colophon upsert countries --actor human:ann`,
      'One field of one record',
    ],
    [
      'tail -f events.ndjson | colophon upsert events --actor agent:tail',
      'Lines as they come: each is stored at once',
    ],
  ])
  return addSheetOptions(command, { writes: true }).action(
    (sheet: string, file: string | undefined, flags: Flags) =>
      withSheet({ ...flags, sheet }, async (context) => {
        const { runUpsert } = await import('./run-upsert.ts')
        await runUpsert(context, { file: file ?? '-', format: flags.inputFormat ?? null })
      }),
  )
}

import { Command, Option } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { progressOption } from '../../options/progress-option.ts'
import type { ProgressStyle } from '../../terminal/progress.ts'
import { addReadFileOptions, readFileOptionsOf, type ReadFileFlags } from '../../options/read-file-flags.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

const INPUT_FORMATS = ['csv', 'json', 'ndjson', 'parquet', 'xlsx'] as const

interface Flags extends SheetFlags, ReadFileFlags {
  readonly inputFormat?: (typeof INPUT_FORMATS)[number]
  readonly dryRun?: true
  readonly check: boolean
  readonly keepEmpty?: true
  readonly raw?: true
  readonly key?: string | false
  readonly progress?: ProgressStyle
}

/** `colophon import <sheet> <file>`. */
export function importCommand(): Command {
  const command = addSheetArgument(
    new Command('import').description('Import the records of a file, after validating all of them.'),
  )
    .argument('<file>', 'CSV, JSON, NDJSON, Parquet or XLSX; - is standard input')
    .addOption(
      new Option(
        '--input-format <format>',
        'format of the input (default: by the name of the file); required for standard input',
      ).choices(INPUT_FORMATS),
    )
    .option('--dry-run', 'only show what would be written, and errors')
    .option('--no-check', 'write without validating the file first, up to the first refused record')
    .option('--keep-empty', 'keep the value where the file has an empty cell, instead of clearing it')
    .option('--key <column>', 'column that has the ids (default: id, or its original name)')
    .option('--no-key', 'number the records, in a sheet whose ids init made this way')
    .option('--raw', 'take the texts of CSV as they are, with the apostrophes that guard against formulas')
    .addOption(progressOption())
  addReadFileOptions(command)
  addExamples(command, [
    ['colophon import countries countries.csv --dry-run --actor human:ann', 'What a file would change'],
    ['colophon import countries countries.xlsx --actor human:ann', 'The first worksheet of a workbook'],
    [
      'colophon import orders export.csv.gz --key "order no" --null NA --yes --actor agent:nightly',
      'A compressed file, with ids in another column, without questions',
    ],
  ])
  return addSheetOptions(command, { writes: true }).action(
    onSheet((flags: Flags, file: string) =>
      withSheet(flags, async (context) => {
        const { runImport } = await import('./run-import.ts')
        return runImport(context, {
          file,
          format: flags.inputFormat ?? null,
          dryRun: flags.dryRun === true,
          check: flags.check,
          keepEmpty: flags.keepEmpty === true,
          read: { ...readFileOptionsOf(flags), raw: flags.raw === true },
          key: flags.key ?? null,
          ask: flags.yes !== true,
          progress: flags.progress ?? null,
        })
      }),
    ),
  )
}

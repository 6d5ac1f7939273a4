import { Command, Option } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { delimiterOption } from '../../options/delimiter-option.ts'
import { addExamples } from '../../options/examples.ts'
import { progressOption } from '../../options/progress-option.ts'
import { isStoreUrl } from '../../../sheet/store-url.ts'
import { LINEAGE_FORMATS } from '../../../sheet/lineage/lineage-formats.ts'
import type { ProgressStyle } from '../../terminal/progress.ts'
import {
  conditionOf,
  conditionOptions,
  fieldsOption,
  filterOption,
  sortOption,
  type ConditionFlags,
} from '../../options/record-options.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

const EXPORT_FORMATS = [
  'csv',
  'json',
  'ndjson',
  'parquet',
  'xlsx',
  'datapackage',
  'archive',
  'folio',
  ...LINEAGE_FORMATS,
] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

interface Flags extends Omit<SheetFlags, 'format'>, ConditionFlags {
  readonly format?: ExportFormat
  readonly fields?: readonly string[]
  readonly filter?: string
  readonly sort?: readonly string[]
  readonly raw?: true
  readonly withRecording?: true
  readonly delimiter?: string
  readonly namespace?: string
  readonly progress?: ProgressStyle
}

/** `colophon export <sheet> [file]`. */
export function exportCommand(): Command {
  const command = addSheetArgument(
    new Command('export').description(
      'Export records to a file, the whole sheet to an archive, or its provenance for other tools.',
    ),
  )
    .argument('[file]', 'file to write, replaced if it exists; standard output when absent or -')
    .addOption(
      new Option(
        '--format <format>',
        'format to write (default: by the name of the file; ndjson to standard output)',
      ).choices(EXPORT_FORMATS),
    )
    .addOption(fieldsOption())
    .addOption(filterOption())
    .addOption(sortOption())
    .option('--raw', 'leave the texts of CSV as they are, also those that look like formulas')
    .addOption(
      delimiterOption('between the cells of CSV (default: a tab for .tsv and .tab, a comma for others)'),
    )
    .option(
      '--with-recording',
      'with --format archive: add the requests and responses of the runs, for colophon replay',
    )
    .option('--namespace <name>', 'namespace of the jobs and datasets of openlineage (default: colophon)')
    .addOption(progressOption())
  for (const option of conditionOptions()) command.addOption(option)
  addExamples(command, [
    ['colophon export countries countries.xlsx', 'All records, as a workbook'],
    [
      `colophon export countries asia.csv --fields id,name,area --filter "region = 'Asia'" --sort name`,
      'Some fields of some records, sorted',
    ],
    ['colophon export countries --format parquet > countries.parquet', 'To standard output'],
    ['colophon export countries countries.zip --format archive', 'The whole sheet, with its provenance'],
    [
      'colophon export countries countries.zip --format archive --with-recording',
      'With the calls of the runs, which can be replayed',
    ],
    ['colophon export countries package --format datapackage', 'A Frictionless Data Package in a directory'],
    [
      'colophon export countries runs.ndjson --format openlineage',
      'Its runs, with the lineage of the columns',
    ],
    ['colophon export countries prov.json --format prov-json', 'The origin of every value, as W3C PROV'],
    ['colophon export tasks ../folio/tasks --format folio', 'A sheet of folio in a directory'],
  ])
  return addSheetOptions(command, { prints: false }).action(
    onSheet(({ format, ...flags }: Flags, file: string | undefined) =>
      withSheet(flags, async (context) => {
        const { runExport } = await import('./run-export.ts')
        return runExport(context, {
          file: file === undefined || file === '-' ? null : file,
          format: format ?? null,
          fields: flags.fields ?? null,
          filter: flags.filter ?? null,
          where: conditionOf(flags),
          sort: flags.sort ?? null,
          raw: flags.raw === true,
          withRecording: flags.withRecording === true,
          delimiter: flags.delimiter ?? null,
          namespace: flags.namespace ?? null,
          progress: flags.progress ?? null,
          directory: isStoreUrl(flags.sheet) ? null : flags.sheet,
        })
      }),
    ),
  )
}

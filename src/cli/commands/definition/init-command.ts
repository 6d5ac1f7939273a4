import { Command, InvalidArgumentError, Option } from 'commander'
import { isLogicalType, LOGICAL_TYPES, type LogicalType } from '../../../sheet/schema/logical-types.ts'
import { addOutputOptions, withOutput, type OutputFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { maxSizeOption } from '../../options/max-size-option.ts'
import { parseActor } from '../../options/option-values.ts'
import { UsageError } from '../../options/usage-error.ts'
import { addReadFileOptions, readFileOptionsOf, type ReadFileFlags } from '../../options/read-file-flags.ts'

const INPUT_FORMATS = ['csv', 'json', 'ndjson', 'parquet', 'xlsx', 'archive'] as const

interface Flags extends OutputFlags, ReadFileFlags {
  readonly from?: string
  readonly fromFolio?: string
  readonly check?: true
  readonly inputFormat?: (typeof INPUT_FORMATS)[number]
  readonly key?: string | false
  readonly contract?: string
  readonly schema?: string
  readonly maxSize: number
  readonly type?: ReadonlyMap<string, LogicalType>
  readonly actor?: string
}

/** `colophon init <directory>`. */
export function initCommand(): Command {
  const command = new Command('init')
    .description(
      'Create a sheet: from scratch, a file of records, a contract, the archive of another sheet, or a sheet of folio.',
    )
    .argument('<directory>', 'directory to create; it may exist, and nothing in it is overwritten')
    .option(
      '--from <file>',
      'records (CSV, JSON, NDJSON, Parquet, XLSX) or the archive of a sheet; - is standard input',
    )
    .option(
      '--from-folio <sheet>',
      'directory of a folio sheet, which is only read; reports every difference',
    )
    .option('--check', 'with --from-folio: report the differences, and create nothing')
    .addOption(
      new Option(
        '--input-format <format>',
        'format of the input (default: by the name of the file); required for standard input',
      ).choices(INPUT_FORMATS),
    )
    .option(
      '--key <column>',
      'column that becomes id (default: one named like a key, or with a different value in each record)',
    )
    .option('--no-key', 'number the records instead, in the order of the file')
    .option('--contract <file>', 'use this ODCS contract instead of inferring one from the records')
    .option('--schema <name>', 'schema entry of that contract to use, if it has several')
    .addOption(maxSizeOption())
    .addOption(
      new Option(
        '--type <column=type>',
        `type of a column (${LOGICAL_TYPES.join(', ')}), instead of the inferred one; may be repeated`,
      ).argParser(parseColumnType),
    )
    .addOption(
      new Option('--actor <name>', 'actor of the import').argParser(parseActor).env('COLOPHON_ACTOR'),
    )
  addReadFileOptions(command)
  addExamples(command, [
    ['colophon init friends', 'A sheet without records, with a contract to edit'],
    [
      'colophon init orders --from orders.csv',
      'A sheet from a file, with a contract inferred from its records',
    ],
    ['colophon init orders --from orders.csv --key "order no"', 'The same, with ids from a given column'],
    [
      'colophon init plants --from plants.txt --encoding windows-1252 --delimiter tab --null NA --type zip=string',
      'A file whose format cannot be detected',
    ],
    [
      'colophon init orders --contract orders.odcs.yaml --schema orders --from orders.parquet',
      'A sheet with an existing contract',
    ],
    ['colophon init copy --from countries.zip', 'A copy of a sheet, with its provenance'],
    [
      'colophon init tasks --from-folio ../folio/tasks --check',
      'What would differ in a sheet made from one of folio',
    ],
  ])
  return addOutputOptions(command).action((directory: string, flags: Flags) =>
    withOutput(flags, async (out) => {
      if (flags.fromFolio !== undefined) {
        const { runInitFromFolio } = await import('./run-init-from-folio.ts')
        const { fromFolio: from, check, actor, ...others } = flags
        return runInitFromFolio(out, { directory, from, check: check === true, actor: actor ?? null, others })
      }
      if (flags.check === true) throw new UsageError('--check requires --from-folio')
      const { runInit } = await import('./run-init.ts')
      return runInit(out, {
        directory,
        from: flags.from ?? null,
        inputFormat: flags.inputFormat ?? null,
        key: flags.key ?? null,
        contract: flags.contract ?? null,
        schema: flags.schema ?? null,
        maxBytes: flags.maxSize,
        read: readFileOptionsOf(flags),
        types: flags.type ?? new Map(),
        ask: flags.yes !== true,
        actor: flags.actor ?? null,
      })
    }),
  )
}

/** Parses `column=type`. Throws InvalidArgumentError. */
function parseColumnType(
  text: string,
  earlier: ReadonlyMap<string, LogicalType> | undefined,
): ReadonlyMap<string, LogicalType> {
  const at = text.lastIndexOf('=')
  const [column, type] = [text.slice(0, at), text.slice(at + 1)]
  if (at < 1 || !isLogicalType(type)) {
    throw new InvalidArgumentError(
      `Give a column and one of ${LOGICAL_TYPES.join(', ')}, such as zip=string.`,
    )
  }
  return new Map([...(earlier ?? []), [column, type]])
}

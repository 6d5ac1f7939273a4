import { Command, InvalidArgumentError, Option } from 'commander'
import { isLogicalType, LOGICAL_TYPES, type LogicalType } from '../../../sheet/schema/logical-types.ts'
import { addOutputOptions, withOutput, type OutputFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { integerBetween, parseActor } from '../../options/option-values.ts'
import { addReadFileOptions, readFileOptionsOf, type ReadFileFlags } from '../../options/read-file-flags.ts'

const INPUT_FORMATS = ['csv', 'json', 'ndjson', 'parquet', 'xlsx', 'archive'] as const

const GIB = 1024 ** 3

interface Flags extends OutputFlags, ReadFileFlags {
  readonly from?: string
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
      'Make a sheet: from nothing, a file of records, a contract, or the archive of another sheet.',
    )
    .argument('<directory>', 'where it goes; made if it is not there, and nothing in it is overwritten')
    .option(
      '--from <file>',
      'records (CSV, JSON, NDJSON, Parquet, XLSX) or the archive of a sheet; - is standard input',
    )
    .addOption(
      new Option(
        '--input-format <format>',
        'what the input is; by the name of a file, and needed for standard input',
      ).choices(INPUT_FORMATS),
    )
    .option(
      '--key <column>',
      'the column that becomes id (default: one that reads like a key, or differs in each record)',
    )
    .option('--no-key', 'number the records instead, in the order of the file')
    .option(
      '--contract <file>',
      'take this ODCS contract, of whoever made it, instead of looking at the records',
    )
    .option('--schema <name>', 'which schema entry of that contract, if it has several')
    .addOption(
      new Option('--max-size <GiB>', 'the most that an archive may be unpacked')
        .argParser(integerBetween(1, 1024, GIB))
        .default(16 * GIB, '16'),
    )
    .addOption(
      new Option(
        '--type <column=type>',
        `the type of a column (${LOGICAL_TYPES.join(', ')}), whatever its values look like; may be given several times`,
      ).argParser(parseColumnType),
    )
    .addOption(
      new Option('--actor <name>', 'who imports the records').argParser(parseActor).env('COLOPHON_ACTOR'),
    )
  addReadFileOptions(command)
  addExamples(command, [
    ['colophon init friends', 'A sheet without records, with a contract to edit'],
    ['colophon init orders --from orders.csv', 'A sheet of a file, with a contract that its records fit'],
    [
      'colophon init orders --from orders.csv --key "order no"',
      'The same, with ids from a column of your choice',
    ],
    [
      'colophon init plants --from plants.txt --encoding windows-1252 --delimiter tab --null NA --type zip=string',
      'A file that says little about itself',
    ],
    [
      'colophon init orders --contract orders.odcs.yaml --schema orders --from orders.parquet',
      'A sheet of a contract that somebody else made',
    ],
    ['colophon init copy --from countries.zip', 'A sheet as it was elsewhere, provenance included'],
  ])
  return addOutputOptions(command).action((directory: string, flags: Flags) =>
    withOutput(flags, async (out) => {
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

/** Throws InvalidArgumentError for what is no `column=type`. */
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

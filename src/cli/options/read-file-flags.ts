import { InvalidArgumentError, Option, type Command } from 'commander'
import {
  BLANKS,
  isEncoding,
  type Blank,
  type ReadFileOptions,
} from '../../sheet/transfer/read-file-options.ts'
import type { DateOrder } from '../../sheet/transfer/read-file-options.ts'
import { dateOrderOption } from './date-order-option.ts'
import { delimiterOption } from './delimiter-option.ts'
import { integerBetween } from './option-values.ts'

/** The parsed options for reading a file of records. */
export interface ReadFileFlags {
  readonly encoding?: string
  readonly delimiter?: string
  readonly skip?: number
  /** False for `--no-header`, true for `--header`. */
  readonly header?: boolean
  /** The value of `--sheet`. */
  readonly worksheet?: string
  readonly recordsAt?: string
  readonly null?: readonly string[]
  readonly blank?: Blank
  readonly dateOrder?: DateOrder
  readonly yes?: true
}

/** Adds the options for reading a file of records, and `--yes`. */
export function addReadFileOptions(command: Command): Command {
  return command
    .addOption(delimiterOption('between the cells of CSV (default: detected)'))
    .addOption(
      new Option(
        '--encoding <label>',
        'encoding of a text file, such as windows-1252 (default: detected)',
      ).argParser(parseEncoding),
    )
    .addOption(
      new Option(
        '--skip <count>',
        'lines of CSV, or rows of a worksheet, above the names of the columns',
      ).argParser(integerBetween(0, 1_000_000)),
    )
    .option('--header', 'take the first line or row as the names of the columns')
    .option('--no-header', 'take no line or row as names: the columns are column_1, column_2, …')
    .addOption(
      new WorksheetOption('--sheet <name>', 'the worksheet of a workbook (default: the first with a table)'),
    )
    .option('--records-at <place>', 'path of the records in JSON, such as data.items (default: detected)')
    .addOption(
      new Option('--null <text>', 'text that means no value, such as NA; may be repeated').argParser(
        (text: string, earlier: readonly string[] | undefined) => [...(earlier ?? []), text],
      ),
    )
    .addOption(
      new Option(
        '--blank <meaning>',
        'meaning of "" in CSV: no value or an empty text (default: null)',
      ).choices(BLANKS),
    )
    .addOption(dateOrderOption())
    .option('--yes', 'accept guesses without asking')
}

/** Stores `--sheet` as `worksheet`, since `sheet` is the sheet that a command works on. */
class WorksheetOption extends Option {
  override attributeName(): string {
    return 'worksheet'
  }
}

/** Returns the options for reading a file. */
export function readFileOptionsOf(flags: ReadFileFlags): ReadFileOptions {
  return {
    encoding: flags.encoding ?? null,
    delimiter: flags.delimiter ?? null,
    skip: flags.skip ?? null,
    header: flags.header ?? null,
    sheet: flags.worksheet ?? null,
    recordsAt: flags.recordsAt ?? null,
    nulls: flags.null ?? [],
    blank: flags.blank ?? null,
    dateOrder: flags.dateOrder ?? null,
  }
}

/** Parses an encoding label. Throws InvalidArgumentError for an unknown one. */
function parseEncoding(label: string): string {
  if (isEncoding(label)) return label
  throw new InvalidArgumentError('Give a label of the Encoding Standard, such as utf-8 or windows-1252.')
}

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

/** Flags that say how a file of records is to be read. */
export interface ReadFileFlags {
  readonly encoding?: string
  readonly delimiter?: string
  readonly skip?: number
  /** False for `--no-header`, true for `--header`. */
  readonly header?: boolean
  /** Of `--sheet`. */
  readonly worksheet?: string
  readonly recordsAt?: string
  readonly null?: readonly string[]
  readonly blank?: Blank
  readonly dateOrder?: DateOrder
  readonly yes?: true
}

/** Adds the options that say how a file of records is to be read, and `--yes`. */
export function addReadFileOptions(command: Command): Command {
  return command
    .addOption(delimiterOption('between the cells of CSV (default: found out)'))
    .addOption(
      new Option('--encoding <label>', 'of a text file, such as windows-1252 (default: found out)').argParser(
        parseEncoding,
      ),
    )
    .addOption(
      new Option(
        '--skip <count>',
        'lines of CSV, or rows of a worksheet, above the names of the columns',
      ).argParser(integerBetween(0, 1_000_000)),
    )
    .option('--header', 'the first line or row has the names of the columns, whatever it looks like')
    .option('--no-header', 'no line or row has names: the columns are column_1, column_2, …')
    .addOption(
      new WorksheetOption('--sheet <name>', 'the worksheet of a workbook (default: the first with a table)'),
    )
    .option('--records-at <place>', 'where JSON has its records, such as data.items (default: found out)')
    .addOption(
      new Option(
        '--null <text>',
        'a text that stands for no value, such as NA; may be given several times',
      ).argParser((text: string, earlier: readonly string[] | undefined) => [...(earlier ?? []), text]),
    )
    .addOption(
      new Option(
        '--blank <meaning>',
        'what "" is in CSV: no value, or an empty text (default: null)',
      ).choices(BLANKS),
    )
    .addOption(dateOrderOption())
    .option('--yes', 'do not ask whether what was guessed is right')
}

/** The flag `sheet` is the sheet that a command works on. */
class WorksheetOption extends Option {
  override attributeName(): string {
    return 'worksheet'
  }
}

/** The options that the flags mean. */
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

/** Throws InvalidArgumentError for an encoding that nobody knows. */
function parseEncoding(label: string): string {
  if (isEncoding(label)) return label
  throw new InvalidArgumentError('Give a label of the Encoding Standard, such as utf-8 or windows-1252.')
}

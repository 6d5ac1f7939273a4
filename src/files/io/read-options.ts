import { ValidationError } from '../../errors/service-error.ts'
import type { FileFormat } from './file-format.ts'
import type { DateOrder } from '../notation/foreign-moment.ts'
import { isEncoding } from './read-text.ts'

/** What blank CSV cells in quotes are taken for. */
export const BLANKS = ['null', 'empty'] as const
export type Blank = (typeof BLANKS)[number]

/** How a file of records is to be read. What is null or absent is found out. */
export interface ReadFileOptions {
  /** True takes CSV cells as they are, and does not undo the guard against formulas that an export puts up. */
  readonly raw?: boolean
  /** The encoding of a text file, by its label in the Encoding Standard. */
  readonly encoding?: string | null
  /** The character between the cells of CSV. */
  readonly delimiter?: string | null
  /** Lines, or rows of a worksheet, that come before the names of the columns. */
  readonly skip?: number | null
  /** Whether the first line or row has the names of the columns. */
  readonly header?: boolean | null
  /** The name of a worksheet. */
  readonly sheet?: string | null
  /** The place of the records in JSON: members with points between them, or a JSON pointer. */
  readonly recordsAt?: string | null
  /** Texts that stand for no value, without white space around them. */
  readonly nulls?: readonly string[]
  /** What a pair of quotes with nothing between is in CSV: no value, as most programs mean it, or an empty text. */
  readonly blank?: Blank | null
  /** Whether day or month comes first in dates that could have either, and no other date of the column shows it. */
  readonly dateOrder?: DateOrder | null
}

type OptionName = Exclude<keyof ReadFileOptions, 'raw' | 'nulls' | 'dateOrder'>

const TEXT: readonly FileFormat[] = ['csv', 'json', 'ndjson']

const TABLES: readonly FileFormat[] = ['csv', 'xlsx']

/** The formats that each option is for. */
const FORMATS: Readonly<Record<OptionName, readonly FileFormat[]>> = {
  encoding: TEXT,
  delimiter: ['csv'],
  skip: TABLES,
  header: TABLES,
  sheet: ['xlsx'],
  recordsAt: ['json'],
  blank: ['csv'],
}

/** Throws ValidationError for an option that does not go with a format, and for an encoding that nobody knows. */
export function checkReadOptions(options: ReadFileOptions, format: FileFormat): void {
  for (const name of Object.keys(FORMATS) as OptionName[]) {
    const value = options[name] ?? null
    if (value === null || FORMATS[name].includes(format)) continue
    throw new ValidationError(
      `${name === 'recordsAt' ? 'records-at' : name} is for ${FORMATS[name].join(', ')}; the file is ${format}`,
      'conflicting_parameters',
    )
  }
  const { encoding = null } = options
  if (encoding !== null && !isEncoding(encoding)) {
    throw new ValidationError(
      `the encoding "${encoding}" is not known; use a label of the Encoding Standard, such as utf-8, windows-1252 or shift_jis`,
      'unknown_encoding',
    )
  }
}

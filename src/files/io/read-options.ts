import { ValidationError } from '../../errors/service-error.ts'
import type { FileFormat } from './file-format.ts'
import type { DateOrder } from '../../contract/values/foreign-moment.ts'
import { isEncoding } from './read-text.ts'

/** The meanings of an empty pair of quotes in CSV. */
export const BLANKS = ['null', 'empty'] as const
export type Blank = (typeof BLANKS)[number]

/** Options for reading a file of records. What is null or absent is detected. */
export interface ReadFileOptions {
  /** Keeps CSV cells unchanged, without removing the formula guard of an export. */
  readonly raw?: boolean
  /** The encoding of a text file, by its label in the Encoding Standard. */
  readonly encoding?: string | null
  /** The character between the cells of CSV. */
  readonly delimiter?: string | null
  /** The number of lines, or rows of a worksheet, before the column names. */
  readonly skip?: number | null
  /** Whether the first line or row has the column names. */
  readonly header?: boolean | null
  /** The name of a worksheet. */
  readonly sheet?: string | null
  /** The path of the records in JSON: members separated by dots, or a JSON pointer. */
  readonly recordsAt?: string | null
  /** Texts that mean no value, trimmed. */
  readonly nulls?: readonly string[]
  /** The meaning of an empty pair of quotes in CSV: no value, as in most programs, or an empty text. */
  readonly blank?: Blank | null
  /** The order of day and month for ambiguous dates, if no other date of the column shows it. */
  readonly dateOrder?: DateOrder | null
}

type OptionName = Exclude<keyof ReadFileOptions, 'raw' | 'nulls' | 'dateOrder'>

const TEXT: readonly FileFormat[] = ['csv', 'json', 'ndjson']

const TABLES: readonly FileFormat[] = ['csv', 'xlsx']

/** The formats that support each option. */
const FORMATS: Readonly<Record<OptionName, readonly FileFormat[]>> = {
  encoding: TEXT,
  delimiter: ['csv'],
  skip: TABLES,
  header: TABLES,
  sheet: ['xlsx'],
  recordsAt: ['json'],
  blank: ['csv'],
}

/** Throws ValidationError for an option that the format does not support, and for an unknown encoding. */
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

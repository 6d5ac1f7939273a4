import type { ColumnMetaData } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import type { PageHeader } from 'hyparquet/src/types.js'
import { ValidationError } from '../../errors/service-error.ts'
import { deltaByteArrayBytes, type LevelsOfColumn } from './delta-byte-array.ts'

/** The memory limits of a row group: decompressed bytes, and values of all columns together. */
export const MAX_GROUP_BYTES = 1024 << 20
export const MAX_GROUP_VALUES = 64 << 20

/** The rest of the limits for a row group. */
export interface PageBudget {
  bytes: number
  values: number
}

export interface PageCheck {
  /** The name of the file in messages. */
  readonly name: string
  readonly budget: PageBudget
  readonly levels: LevelsOfColumn
}

/**
 * Checks the headers of a column's pages before memory is allocated: a few bytes can declare millions of values.
 * Throws ValidationError for pages that declare more than the column has, or more than the budget has left.
 */
export function checkPages(
  chunk: ArrayBuffer,
  column: ColumnMetaData,
  { name, budget, levels }: PageCheck,
): void {
  const reader = { view: new DataView(chunk), offset: 0 }
  let left = Number(column.num_values)
  while (reader.offset < chunk.byteLength - 1) {
    const header = parquetHeader(reader)
    const data = header.data_page_header ?? header.data_page_header_v2
    const values = data?.num_values ?? header.dictionary_page_header?.num_values ?? 0
    const { compressed_page_size: packed, uncompressed_page_size: unpacked } = header
    if (!isComplete(header) || reader.offset + packed > chunk.byteLength) {
      throw new ValidationError(
        `${name}: the file is damaged: a page is not what it says it is`,
        'unreadable_file',
      )
    }
    const page = new Uint8Array(chunk, reader.offset, packed)
    reader.offset += packed
    if (data !== undefined) left -= values
    budget.bytes -= unpacked
    budget.values -= values
    if (left < 0)
      throw new ValidationError(
        `${name}: the file is damaged: a column has more values than it states`,
        'unreadable_file',
      )
    checkBudget(budget, name)
    if (data?.encoding !== 'DELTA_BYTE_ARRAY') continue
    budget.bytes -= deltaByteArrayBytes(page, header, { codec: column.codec, levels })
    checkBudget(budget, name)
  }
}

function checkBudget({ bytes, values }: PageBudget, name: string): void {
  if (bytes >= 0 && values >= 0) return
  throw new ValidationError(
    `${name}: a row group is larger than ${MAX_GROUP_BYTES >> 20} MiB or ${MAX_GROUP_VALUES >> 20} million values ` +
      'once it is decompressed; write the file with smaller row groups',
    'unreadable_file',
  )
}

/** Whether a header is complete: with missing members, the library may loop without end. */
function isComplete(header: PageHeader): boolean {
  const { data_page_header: v1, data_page_header_v2: v2, dictionary_page_header: dictionary } = header
  const { compressed_page_size: packed, uncompressed_page_size: unpacked } = header
  if (!isCount(packed) || !isCount(unpacked)) return false
  switch (header.type) {
    case 'DATA_PAGE':
      return v1 !== undefined && isCount(v1.num_values) && isEncoding(v1.encoding)
    case 'DICTIONARY_PAGE':
      return dictionary !== undefined && isCount(dictionary.num_values) && isEncoding(dictionary.encoding)
    case 'DATA_PAGE_V2': {
      if (v2 === undefined || !isEncoding(v2.encoding)) return false
      const { num_values: values, num_nulls: nulls, num_rows: rows } = v2
      const { definition_levels_byte_length: definitions, repetition_levels_byte_length: repetitions } = v2
      if (![values, nulls, rows, definitions, repetitions].every(isCount)) return false
      return nulls <= values && rows <= values && definitions + repetitions <= Math.min(packed, unpacked)
    }
    default:
      return false
  }
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

/** Whether the library knows an encoding: it omits unknown ones. */
function isEncoding(value: unknown): boolean {
  return typeof value === 'string'
}

import type { SchemaElement } from 'hyparquet'
import type { Field } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json/json.ts'

/** The representation of a field in a Parquet file. */
export interface ParquetColumn {
  readonly name: string
  readonly schema: SchemaElement
  /** Converts a value of the field for the writer. */
  toStored(value: JsonValue): unknown
}

const DAY_MS = 86_400_000

/**
 * Returns the column of a field. Timestamps and times are texts: the types of Parquet would lose their offset and
 * digits. Arrays and objects are JSON.
 */
export function parquetColumn({ name, type }: Field): ParquetColumn {
  const column = (
    schema: Omit<SchemaElement, 'name' | 'repetition_type'>,
    convert: (value: JsonValue) => unknown = (value) => value,
  ): ParquetColumn => ({
    name,
    schema: { name, repetition_type: 'OPTIONAL', ...schema },
    toStored: (value) => (value === null ? null : convert(value)),
  })
  switch (type) {
    case 'integer':
      return column({ type: 'INT64' }, (value) => BigInt(Number(value)))
    case 'number':
      return column({ type: 'DOUBLE' })
    case 'boolean':
      return column({ type: 'BOOLEAN' })
    case 'date':
      return column({ type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } }, (value) =>
        typeof value === 'string' ? Date.parse(`${value}T00:00:00Z`) / DAY_MS : null,
      )
    case 'array':
    case 'object':
      // Without the older `converted_type`: the library would then serialize the JSON, and lose keys such as `__proto__`.
      return column({ type: 'BYTE_ARRAY', logical_type: { type: 'JSON' } }, (value) =>
        Buffer.from(JSON.stringify(value)),
      )
    case 'string':
    case 'timestamp':
    case 'time':
      return column({ type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } })
  }
}

/** Returns the date that is a number of days after 1970-01-01. */
export function dateFromDays(days: number): string {
  const date = new Date(days * DAY_MS)
  return Number.isNaN(date.getTime()) ? String(days) : date.toISOString().replace(/T.*$/, '')
}

import type { LogicalType } from '../../../contract/contract.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import { mayDiffer, writtenColumn, type TypedField } from './columns.ts'
import type { StoredRow, StoredValue } from './connection.ts'

/**
 * Converts a valid value to a member of the JSON from which `json_to_recordset` makes rows. A value that the column does
 * not preserve exactly is in {@link writtenOf} as well.
 */
export function toColumn({ type }: TypedField, value: JsonValue): JsonValue {
  if (type === 'timestamp' && typeof value === 'string') return columnTimestamp(value)
  if (type === 'date' && typeof value === 'string') return columnDate(value)
  return value
}

/** Converts a valid value to a parameter of a statement, or a field of COPY; cast it to the column's type. */
export function toColumnText(field: TypedField, value: JsonValue): string | null {
  const stored = toColumn(field, value)
  if (stored === null || typeof stored === 'string') return stored
  return JSON.stringify(stored)
}

/** Returns a value that the column of its field does not preserve exactly; null for any other. */
export function writtenOf({ type }: TypedField, value: JsonValue): JsonValue {
  return value === null || !mayDiffer(type) || comesBack(type, value) ? null : value
}

/** Converts a valid value to the members of its columns in the JSON from which `json_to_recordset` makes rows. */
export function toColumns(field: TypedField, value: JsonValue): [column: string, value: JsonValue][] {
  const own: [string, JsonValue] = [field.name, toColumn(field, value)]
  return mayDiffer(field.type) ? [own, [writtenColumn(field.name), writtenOf(field, value)]] : [own]
}

/** Converts a valid value to parameters of a statement, or fields of COPY, for the columns of {@link columnsOf}. */
export function toColumnTexts(field: TypedField, value: JsonValue): (string | null)[] {
  const own = toColumnText(field, value)
  return mayDiffer(field.type) ? [own, writtenText(field, value)] : [own]
}

/** Returns {@link writtenOf} as JSON text. */
function writtenText(field: TypedField, value: JsonValue): string | null {
  const written = writtenOf(field, value)
  return written === null ? null : JSON.stringify(written)
}

/** Returns the value of a field in a row of `$data`, which must have the columns of {@link columnsOf}. */
export function fieldValue(field: TypedField, row: StoredRow): JsonValue {
  const written = mayDiffer(field.type) ? row[writtenColumn(field.name)] : null
  if (typeof written === 'string') return JSON.parse(written) as JsonValue
  return fromColumn(field, row[field.name])
}

/** Converts a column to the value of its field, where it preserves that exactly. */
export function fromColumn({ type }: TypedField, stored: StoredValue | undefined): JsonValue {
  if (stored === null || stored === undefined) return null
  switch (type) {
    case 'array':
    case 'object':
      return JSON.parse(String(stored)) as JsonValue
    case 'timestamp':
      return writtenTimestamp(String(stored))
    case 'boolean':
    case 'integer':
    case 'number':
    case 'string':
    case 'date':
    case 'time':
      return stored as boolean | number | string
  }
}

/** Whether a text can be an id: PostgreSQL stores no U+0000, and no lone surrogates. */
export function canBeId(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

function comesBack(type: LogicalType, value: JsonValue): boolean {
  if (type === 'array' || type === 'object') return keepsOrder(value)
  if (typeof value !== 'string' || value.startsWith('0000')) return false
  return type === 'date' || isPlainTimestamp(value)
}

/** Whether jsonb preserves the order of a value's keys: it sorts them by length, then byte by byte. */
function keepsOrder(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return (value as readonly JsonValue[]).every(keepsOrder)
  let before: Buffer | null = null
  for (const [key, item] of Object.entries(value)) {
    const bytes = Buffer.from(key)
    if (before !== null && (before.length - bytes.length || Buffer.compare(before, bytes)) > 0) return false
    if (!keepsOrder(item)) return false
    before = bytes
  }
  return true
}

/** In UTC with seconds, and a fraction of three or six digits where there is one: the form of {@link writtenTimestamp}. */
const PLAIN_TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d(?:\.(?!000Z)\d{3}(?:(?!000)\d{3})?)?Z$/

function isPlainTimestamp(text: string): boolean {
  return PLAIN_TIMESTAMP.test(text)
}

/** Converts PostgreSQL's text of a timestamp in UTC (`2024-03-10 14:22:35.5+00`) to ISO 8601. */
function writtenTimestamp(stored: string): string {
  const [, day = '', time = '', fraction = ''] = /^(\S+) ([\d:]+)(?:\.(\d+))?\+00/.exec(stored) ?? []
  if (fraction === '') return `${day}T${time}Z`
  return `${day}T${time}.${fraction.padEnd(fraction.length > 3 ? 6 : 3, '0')}Z`
}

/** Converts a timestamp to a text that PostgreSQL accepts: it has no offsets of a day, and no year 0. */
function columnTimestamp(text: string): string {
  if (isPlainTimestamp(text) && !text.startsWith('0000')) return text
  const [, day = '', hours, minutes, seconds = '00', fraction = '', offset = 'Z'] =
    /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:\d\d)$/.exec(text) ?? []
  const shift =
    offset === 'Z'
      ? 0
      : (offset.startsWith('-') ? -1 : 1) * (Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4)))
  const minute = Date.parse(`${day}T${hours}:${minutes}:00Z`) - shift * 60_000
  const moment = new Date(minute + Number(seconds) * 1000)
  const [date, time] = moment
    .toISOString()
    .replace(/^[+-]\d\d(?=\d{4})/, '')
    .split(/[T.]/) as [string, string]
  const year = moment.getUTCFullYear()
  // ISO 8601 has a year 0, and -1 before it; for PostgreSQL it is 1 BC.
  const era = year <= 0 ? ' BC' : ''
  const shown =
    year <= 0
      ? `${String(1 - year).padStart(4, '0')}${date.slice(4)}`
      : year > 9999
        ? `${year}${date.slice(4)}`
        : date
  return `${shown} ${time}.${(fraction || '0').slice(0, 6)}+00${era}`
}

function columnDate(text: string): string {
  return text.startsWith('0000') ? `0001${text.slice(4)} BC` : text
}

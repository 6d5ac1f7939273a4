import type { ParquetParsers, SchemaElement } from 'hyparquet/src/types.js'
import type { JsonValue } from '../../contract/json.ts'
import { dateFromDays } from './parquet-columns.ts'

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** How texts, dates and times of a file become JSON values: as contracts write them, with every digit. */
export const PARSERS: Partial<ParquetParsers> = {
  stringFromBytes: (bytes: Uint8Array | undefined) => bytes && UTF8.decode(bytes),
  jsonFromBytes: (bytes: Uint8Array | undefined) => bytes && (JSON.parse(UTF8.decode(bytes)) as JsonValue),
  dateFromDays: (days: number | null | undefined) =>
    days === null || days === undefined ? undefined : dateFromDays(days),
  timestampFromMilliseconds: (time: bigint | null | undefined) => timestampOf(time, 3),
  timestampFromMicroseconds: (time: bigint | null | undefined) => timestampOf(time, 6),
  timestampFromNanoseconds: (time: bigint | null | undefined) => timestampOf(time, 9),
}

/** A moment counted in parts of a second since 1970: `digits` of 3 is milliseconds. */
function timestampOf(time: bigint | null | undefined, digits: 3 | 6 | 9): string | undefined {
  if (time === null || time === undefined) return undefined
  const unit = 10n ** BigInt(digits)
  const fraction = ((time % unit) + unit) % unit
  const date = new Date(Number((time - fraction) / unit) * 1000)
  if (Number.isNaN(date.getTime())) return String(time)
  return `${date.toISOString().slice(0, -5)}${fractionOf(fraction, digits)}Z`
}

function fractionOf(fraction: bigint, digits: number): string {
  return fraction === 0n ? '' : `.${String(fraction).padStart(digits, '0').replace(/0+$/, '')}`
}

/** What a value of a column is in JSON. What JSON has nothing for becomes its text, for the contract to judge. */
export function jsonOf(value: unknown, element: SchemaElement | undefined): JsonValue {
  if (value === null || value === undefined) return null
  const digits = element === undefined ? null : timeDigits(element)
  if (digits !== null && (typeof value === 'number' || typeof value === 'bigint'))
    return timeOf(BigInt(value), digits)
  // With the older `converted_type` the library has parsed it.
  const isJson = element?.logical_type?.type === 'JSON' && element.converted_type !== 'JSON'
  if (isJson && typeof value === 'string') return JSON.parse(value) as JsonValue
  return plain(value)
}

function plain(value: unknown): JsonValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'bigint':
      return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
    case 'object':
      return value === null ? null : plainObject(value)
    default:
      return null
  }
}

function plainObject(value: object): JsonValue {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (Array.isArray(value)) return value.map(plain)
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<number>, plain)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]))
}

function timeDigits({ converted_type: converted, logical_type: logical }: SchemaElement): 3 | 6 | 9 | null {
  if (logical?.type === 'TIME') return logical.unit === 'NANOS' ? 9 : logical.unit === 'MICROS' ? 6 : 3
  if (converted === 'TIME_MILLIS') return 3
  return converted === 'TIME_MICROS' ? 6 : null
}

/** A time of day counted in parts of a second since midnight. */
function timeOf(time: bigint, digits: 3 | 6 | 9): string {
  const unit = 10n ** BigInt(digits)
  const seconds = time / unit
  const two = (part: bigint): string => String(part).padStart(2, '0')
  return `${two(seconds / 3600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}${fractionOf(time % unit, digits)}`
}

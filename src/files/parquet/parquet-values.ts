import { isListLike, isMapLike } from 'hyparquet/src/schema.js'
import type { ParquetParsers, SchemaElement, SchemaTree } from 'hyparquet/src/types.js'
import { parseExactly, readNumber } from '../../contract/json/exact-json.ts'
import type { JsonValue } from '../../contract/json/json.ts'
import { dateFromDays } from './parquet-columns.ts'

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Converters of texts, dates and times to JSON values in the notation of contracts, with every digit. */
export const PARSERS: Partial<ParquetParsers> = {
  stringFromBytes: (bytes: Uint8Array | undefined) => bytes && UTF8.decode(bytes),
  jsonFromBytes: (bytes: Uint8Array | undefined) =>
    bytes && (parseExactly(UTF8.decode(bytes), { writtenIntegers: true }) as JsonValue),
  dateFromDays: (days: number | null | undefined) =>
    days === null || days === undefined ? undefined : dateFromDays(days),
  timestampFromMilliseconds: (time: bigint | null | undefined) => timestampOf(time, 3),
  timestampFromMicroseconds: (time: bigint | null | undefined) => timestampOf(time, 6),
  timestampFromNanoseconds: (time: bigint | null | undefined) => timestampOf(time, 9),
}

/** Converts a time in fractions of a second since 1970; 3 `digits` are milliseconds. */
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

/**
 * Returns the JSON value of a column's value, at any depth of it. A decimal or integer that no double keeps is a
 * `WrittenNumber`; anything else that JSON has nothing for becomes text, for the contract to validate.
 */
export function jsonOf(value: unknown, column: SchemaTree): JsonValue {
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return value.map((item) => jsonOf(item, itemOf(column)))
  const { children } = column
  if (children.length > 0 && column.element.logical_type?.type !== 'VARIANT' && isPlainObject(value)) {
    const memberOf = isMapLike(column)
      ? () => children[0]?.children[1]
      : (key: string) => children.find(({ element }) => element.name === key)
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const member = memberOf(key)
        return [key, member === undefined ? plain(item) : jsonOf(item, member)]
      }),
    )
  }
  return leafOf(value, column.element)
}

/** Returns the schema of an item of a list or of a repeated column. */
function itemOf(column: SchemaTree): SchemaTree {
  const [repeated] = column.children
  if (!isListLike(column) || repeated === undefined) return column
  return repeated.children.length === 1 ? (repeated.children[0] ?? repeated) : repeated
}

function leafOf(value: unknown, element: SchemaElement): JsonValue {
  const { logical_type: logical } = element
  if (logical?.type === 'DECIMAL') return decimalOf(value, logical.scale)
  const digits = timeDigits(element)
  if (digits !== null && (typeof value === 'number' || typeof value === 'bigint'))
    return timeOf(BigInt(value), digits)
  // With the older `converted_type` the library has already parsed it.
  const isJson = logical?.type === 'JSON' && element.converted_type !== 'JSON'
  if (isJson && typeof value === 'string') return parseExactly(value, { writtenIntegers: true }) as JsonValue
  return plain(value)
}

/** Converts a decimal, an integer with a scale, from big-endian bytes or a number. */
function decimalOf(value: unknown, scale: number): JsonValue {
  if (typeof value !== 'number' && typeof value !== 'bigint' && !(value instanceof Uint8Array))
    return plain(value)
  const unscaled = value instanceof Uint8Array ? integerOf(value) : BigInt(value)
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0')
  const point = digits.length - scale
  const fraction = scale > 0 ? `.${digits.slice(point)}` : ''
  return readNumber(`${unscaled < 0n ? '-' : ''}${digits.slice(0, point)}${fraction}`) as JsonValue
}

/** Converts a big-endian integer in two's complement. */
function integerOf(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n
  return BigInt.asIntN(bytes.length * 8, BigInt(`0x${Buffer.from(bytes).toString('hex')}`))
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && !(value instanceof Date) && !ArrayBuffer.isView(value)
}

function plain(value: unknown): JsonValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'bigint':
      return readNumber(String(value)) as JsonValue
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

/** Converts a time of day in fractions of a second since midnight. */
function timeOf(time: bigint, digits: 3 | 6 | 9): string {
  const unit = 10n ** BigInt(digits)
  const seconds = time / unit
  const two = (part: bigint): string => String(part).padStart(2, '0')
  return `${two(seconds / 3600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}${fractionOf(time % unit, digits)}`
}

import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'
import type { Field } from '../../../contract/contract.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import type { JsonBytes } from '../../sheet-store.ts'

/** Converts a valid value to its column. */
export function toColumn(value: JsonValue): SQLInputValue {
  if (value === null) return null
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'object') return JSON.stringify(value)
  return value
}

/** Converts a column to the value of its field. */
export function fromColumn({ type }: Pick<Field, 'type'>, stored: SQLOutputValue | undefined): JsonValue {
  if (stored === null || stored === undefined) return null
  if (type === 'boolean') return stored === 1
  if (type === 'array' || type === 'object') return JSON.parse(String(stored)) as JsonValue
  return stored as string | number
}

/** Whether a text can be an id: SQLite would convert a lone surrogate to U+FFFD, and find another record. */
export function canBeId(text: string): boolean {
  return text.isWellFormed()
}

/** Returns the bytes of a blob of JSON text. */
export function jsonBytes(blob: unknown): JsonBytes {
  if (!(blob instanceof Uint8Array)) throw new Error('SQLite answered with something that is no blob')
  return Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength)
}

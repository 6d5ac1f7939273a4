import { readNumber } from '../../contract/json/exact-json.ts'
import { numberFrom } from '../../contract/json/exact-number.ts'
import { WrittenNumber } from '../../contract/json/written-number.ts'
import type { Contract, Field } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import type { FieldReadings } from './column-readings.ts'
import { readBoolean, readJson } from '../../contract/values/convert-value.ts'
import { idText } from './infer-column.ts'
import { readMoment } from '../../contract/values/foreign-moment.ts'
import {
  isAmbiguousGroup,
  isGrouped,
  isMissingText,
  withoutGroups,
} from '../../contract/values/foreign-number.ts'
import type { Reading } from '../notation/notation-sketch.ts'
import type { CellKind } from '../io/raw-records.ts'

/** The kind of a file's cells, and how their texts are converted. */
export interface CellReadings {
  readonly cells: CellKind
  readonly readings: Pick<FieldReadings, 'of'>
}

/**
 * Converts the cells of a file to a record of the contract: texts become the types of their fields. Values that
 * cannot be converted, and unknown names, are kept for the contract to refuse.
 */
export function typeCells(
  contract: Contract,
  raw: JsonObject,
  { cells, readings }: CellReadings,
): JsonObject {
  const record: Record<string, JsonValue> = Object.hasOwn(raw, '__proto__')
    ? (Object.create(null) as Record<string, JsonValue>)
    : {}
  for (const name of Object.keys(raw)) {
    const value = raw[name] ?? null
    const field = contract.fieldByName.get(name)
    record[name] = field === undefined ? value : typeCell(field, value, { cells, reading: readings.of(name) })
  }
  return record
}

interface HowToRead {
  readonly cells: CellKind
  readonly reading: Reading
}

function typeCell(field: Field, value: JsonValue, { cells, reading }: HowToRead): JsonValue {
  if (value instanceof WrittenNumber) return typeWrittenNumber(field, value)
  if (cells === 'values') return typeValue(field, value, reading)
  if (field.type === 'string')
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
  if (typeof value === 'number')
    return field.type === 'boolean' && (value === 0 || value === 1) ? value === 1 : value
  if (typeof value !== 'string') return value
  const text = value.trim()
  // Many programs quote every cell, including empty ones.
  if (text === '') return null
  switch (field.type) {
    case 'integer':
    case 'number':
      return numberOf(text, reading) ?? typeText(field, value, reading)
    case 'boolean':
      return readBoolean(text) ?? typeText(field, value, reading)
    case 'date':
    case 'timestamp':
    case 'time':
      return typeText(field, text, reading)
    case 'array':
    case 'object':
      return readJson(text) ?? typeText(field, value, reading)
  }
}

/** Converts a value of a file that has types. */
function typeValue(field: Field, value: JsonValue, reading: Reading): JsonValue {
  if (typeof value === 'string') return typeText(field, value, reading)
  if (field.type !== 'string' || !reading.lenient || value === null) return value
  return idText(value)
}

/** Converts a text of a field that is not a string: a timestamp in a foreign notation, or a word for no value. */
function typeText({ type }: Field, value: string, { lenient, dateOrder }: Reading): JsonValue {
  if (type === 'string') return value
  const text = value.trim()
  if (lenient && isMissingText(text)) return null
  return type === 'date' || type === 'timestamp' ? (readMoment(type, text, dateOrder) ?? value) : value
}

function numberOf(text: string, { commaGroups }: Reading): JsonValue {
  const isGroup = isGrouped(text) && (commaGroups || !isAmbiguousGroup(text))
  const plain = isGroup ? withoutGroups(text) : text
  return numberFrom(plain) ?? (readNumber(plain) as JsonValue)
}

/** Converts a number that a double may not represent: text for a text field, else refused with the value as written. */
function typeWrittenNumber(field: Field, value: JsonValue & WrittenNumber): JsonValue {
  if (field.type === 'number') return numberFrom(value.text) ?? value
  return field.type === 'string' ? value.text : value
}

import { parseExactly, readNumber } from '../contract/exact-json.ts'
import { numberFrom } from '../contract/exact-number.ts'
import { WrittenNumber } from '../contract/written-number.ts'
import type { Contract, Field } from '../contract/contract.ts'
import type { JsonObject, JsonValue } from '../contract/json.ts'
import { nearest } from '../contract/nearest.ts'
import type { CellKind } from './raw-records.ts'

const LOCAL_TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?$/

/** What is wrong with a name that no field has. */
export function unknownFieldFault(contract: Contract, name: string): string {
  const meant = nearest(name, contract.fieldByName.keys())
  return `the contract has no such field${meant === null ? '' : `; was ${meant} meant?`}`
}

/**
 * The record that the cells of a file mean under a contract: texts become the types of their fields. What is nothing of its
 * field's type stays what it is, for the contract to judge, and so do names that the contract lacks.
 */
export function typeCells(contract: Contract, raw: JsonObject, cells: CellKind): JsonObject {
  const record: Record<string, JsonValue> = Object.hasOwn(raw, '__proto__')
    ? (Object.create(null) as Record<string, JsonValue>)
    : {}
  for (const name of Object.keys(raw)) {
    const value = raw[name] ?? null
    const field = contract.fieldByName.get(name)
    record[name] = field === undefined ? value : typeCell(field, value, cells)
  }
  return record
}

function typeCell(field: Field, value: JsonValue, cells: CellKind): JsonValue {
  if (value instanceof WrittenNumber) return typeWrittenNumber(field, value)
  if (cells === 'values') return value
  if (field.type === 'string')
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
  if (typeof value === 'number')
    return field.type === 'boolean' && (value === 0 || value === 1) ? value === 1 : value
  if (typeof value !== 'string') return value
  const text = value.trim()
  // Many programs put every cell into quotes, those without a value too.
  if (text === '') return null
  switch (field.type) {
    case 'integer':
    case 'number':
      return numberFrom(text) ?? (readNumber(text) as JsonValue) ?? value
    case 'boolean':
      return booleanOf(text) ?? value
    case 'date':
    case 'time':
      return text
    case 'timestamp':
      return cells === 'cells' && LOCAL_TIME.test(text) ? inUtc(text) : text
    case 'array':
    case 'object':
      return parsed(text) ?? value
  }
}

/** A number whose digits a double may lose: text where the contract has text, else refused with the value as it is written. */
function typeWrittenNumber(field: Field, value: JsonValue & WrittenNumber): JsonValue {
  if (field.type === 'number') return numberFrom(value.text) ?? value
  return field.type === 'string' ? value.text : value
}

function booleanOf(text: string): boolean | null {
  const word = text.toLowerCase()
  if (word === 'true' || word === '1') return true
  return word === 'false' || word === '0' ? false : null
}

/** Spreadsheets know no offsets. */
function inUtc(text: string): string {
  return text.includes('T') ? `${text}Z` : `${text}T00:00:00Z`
}

function parsed(text: string): JsonValue {
  try {
    return parseExactly(text) as JsonValue
  } catch {
    return null
  }
}

import type { Field, LogicalType, ValueRule } from '../contract.ts'
import { firstWrittenNumber, parseExactly, readNumber } from '../json/exact-json.ts'
import { numberFrom } from '../json/exact-number.ts'
import { isJsonObject, type JsonValue } from '../json/json.ts'
import { readMoment } from './foreign-moment.ts'
import { isAmbiguousGroup, isGrouped, withoutGroups } from './foreign-number.ts'

/**
 * Converts a value of a field to another type, as an import reads the same text; `undefined` where no value of that type
 * says the same. The result still has to be validated. Blank text is no value, except for a string.
 */
export function convertValue(field: Field, before: LogicalType, value: JsonValue): JsonValue | undefined {
  return value === null ? null : convert(field, before, value)
}

function convert(rule: ValueRule, before: LogicalType | null, value: JsonValue): JsonValue | undefined {
  const { type } = rule
  if (type === null || type === before) return value
  if (Array.isArray(value) && type !== 'array') {
    const items = value as readonly JsonValue[]
    const [only] = items
    if (items.length === 1 && isPlainItem(only)) return convert(rule, typeOf(only), only)
    return type === 'string' ? JSON.stringify(value) : undefined
  }
  const isText = typeof value === 'string'
  if (isText && type !== 'string' && value.trim() === '') return null
  switch (type) {
    case 'string':
      return isText ? value : JSON.stringify(value)
    case 'integer':
    case 'number':
      if (typeof value === 'boolean') return value ? 1 : 0
      if (typeof value === 'number') return value
      return isText && before === 'string' ? numberOfText(value.trim()) : undefined
    case 'boolean':
      if (value === 0 || value === 1) return value === 1
      return isText ? (readBoolean(value.trim()) ?? undefined) : undefined
    case 'date':
      if (!isText) return undefined
      return before === 'timestamp'
        ? dateOfMidnight(value)
        : (readMoment('date', value.trim(), null) ?? undefined)
    case 'timestamp':
      return isText ? (readMoment('timestamp', value.trim(), null) ?? undefined) : undefined
    case 'time':
      return isText ? value.trim() : undefined
    case 'array':
      return arrayOf(rule, before, value)
    case 'object': {
      const object = isText ? readJson(value) : undefined
      return isJsonObject(object) && firstWrittenNumber(object) === null ? object : undefined
    }
  }
}

/** Returns the array that a text is the JSON of; for any other value an array of it alone. */
function arrayOf(rule: ValueRule, before: LogicalType | null, value: JsonValue): JsonValue | undefined {
  const parsed = typeof value === 'string' ? readJson(value) : undefined
  if (Array.isArray(parsed)) return firstWrittenNumber(parsed) === null ? (parsed as JsonValue) : undefined
  const item = rule.items === undefined ? value : convert(rule.items, before, value)
  return item === undefined ? undefined : item === null ? null : [item]
}

/** Whether an array of one item is read back from the item alone. */
function isPlainItem(item: JsonValue | undefined): item is string | number | boolean {
  if (typeof item === 'string') return item.trim() !== '' && !Array.isArray(readJson(item))
  return typeof item === 'number' || typeof item === 'boolean'
}

function typeOf(item: string | number | boolean): LogicalType {
  if (typeof item === 'number') return 'number'
  return typeof item === 'boolean' ? 'boolean' : 'string'
}

/** Returns the number that a text shows, with unambiguous groups of digits; `undefined` where a double changes it. */
function numberOfText(text: string): number | undefined {
  const plain = isGrouped(text) && !isAmbiguousGroup(text) ? withoutGroups(text) : text
  const number = numberFrom(plain) ?? readNumber(plain)
  return typeof number === 'number' ? number : undefined
}

/** Returns the boolean that a word of a file means; null for any other text. */
export function readBoolean(text: string): boolean | null {
  const word = text.toLowerCase()
  if (word === 'true' || word === '1') return true
  return word === 'false' || word === '0' ? false : null
}

/** Parses JSON text, with numbers that a double changes as they are written; null for any other text. */
export function readJson(text: string): JsonValue {
  try {
    return parseExactly(text) as JsonValue
  } catch {
    return null
  }
}

const MIDNIGHT = /^(\d{4}-\d\d-\d\d)T00:00(?::00(?:\.0+)?)?Z$/

function dateOfMidnight(timestamp: string): string | undefined {
  return MIDNIGHT.exec(timestamp)?.[1]
}

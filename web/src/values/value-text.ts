import { isOfType } from '../api/is-of-type.ts'
import type { SheetField } from '../api/contract.ts'
import type { DateOrder } from '../../../src/contract/values/foreign-moment.ts'
import { parseNumber, quote, type DecimalSign, type Parsed } from './parse-number.ts'
import { LOCAL_ORDER, readTemporal, TEMPORAL_EXAMPLES } from './temporal-text.ts'

/** The properties of a field that parsing needs. */
export type TextField = Pick<SheetField, 'type' | 'itemType'>

/** The meaning of notations that could have two. */
export interface Notation {
  readonly decimal: DecimalSign
  readonly order: DateOrder
}

/** The notation of the grid, and the browser's order of day and month. */
export const SHOWN_NOTATION: Notation = { decimal: 'point', order: LOCAL_ORDER }

/**
 * Parses a text as a value of a field, in any common notation, or returns an error for a text that makes no sense to
 * send; the server validates the rest. An empty text is no value.
 */
export function parseText(
  { type, itemType }: TextField,
  text: string,
  { decimal, order }: Notation = SHOWN_NOTATION,
): Parsed {
  if (type === 'string') return { value: text === '' ? null : text }
  if (text.trim() === '') return { value: null }
  switch (type) {
    case 'integer':
    case 'number':
      return parseNumber(type, text, decimal)
    case 'boolean':
      return parseBoolean(text)
    case 'date':
    case 'timestamp':
    case 'time': {
      const read = readTemporal(type, text, order)
      if (read !== null) return { value: read }
      return { error: `${quote(text)} is not a ${type} such as ${TEMPORAL_EXAMPLES[type]}` }
    }
    case 'array':
      return hasPlainItems(itemType) && !text.trim().startsWith('[')
        ? parseItems(itemType, text)
        : parseJson(type, text)
    case 'object':
      return parseJson(type, text)
  }
}

const YES: ReadonlySet<string> = new Set(['true', 't', 'yes', 'y', 'on', '1', '✓', '✔'])
const NO: ReadonlySet<string> = new Set(['false', 'f', 'no', 'n', 'off', '0', '✗', '✘'])

function parseBoolean(text: string): Parsed {
  const word = text.trim().toLowerCase()
  if (YES.has(word) || NO.has(word)) return { value: YES.has(word) }
  return { error: `${quote(text)} is neither TRUE nor FALSE` }
}

/** Whether items of a type are written without JSON. */
export function hasPlainItems(type: SheetField['itemType']): boolean {
  return type === 'string' || type === 'integer' || type === 'number'
}

/** Parses items that are separated by commas or line breaks; an item with a comma is quoted. */
export function parseItems(type: SheetField['itemType'], text: string): Parsed {
  const items: unknown[] = []
  for (const item of splitItems(text)) {
    // In a list the comma separates items.
    const parsed: Parsed = type === 'integer' || type === 'number' ? parseNumber(type, item) : { value: item }
    if ('error' in parsed) return parsed
    items.push(parsed.value)
  }
  return { value: items }
}

/** Splits a list at commas and line breaks outside of quotes; empty items are omitted. */
export function splitItems(text: string): readonly string[] {
  const items = text.matchAll(/\s*(?:"((?:[^"]|"")*)"(?=\s*(?:[,\n\r]|$))|([^,\n\r]+))/g)
  return [...items]
    .map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain?.trim() ?? '')
    .filter((item) => item !== '')
}

/** Writes an item so that {@link splitItems} returns it as one. */
export function itemText(item: string | number): string {
  const text = String(item)
  return /[,\n\r]|^"/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function parseJson(type: 'array' | 'object', text: string): Parsed {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { error: `not JSON: ${reason}` }
  }
  if (value === null) return { value }
  if (isOfType(type, value)) return { value }
  return {
    error: type === 'array' ? 'not a JSON array such as ["a", "b"]' : 'not a JSON object such as {"a": 1}',
  }
}

/** Returns the error of a value that could not be parsed in an editor; null for others. */
export function unparsedError({ type, itemType }: TextField, value: unknown): string | null {
  if (value === null || value === undefined || isOfType(type, value)) return null
  const parsed =
    typeof value === 'string'
      ? parseText({ type, itemType }, value)
      : { error: `not a value of type ${type}` }
  return 'error' in parsed ? parsed.error : null
}

/** Returns a value as text to copy and edit; null for no value. */
export function copyText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE'
  return JSON.stringify(value)
}

/** Returns a value as text for messages. */
export function shownValue(value: unknown): string {
  const text = copyText(value)
  if (text === null) return 'no value'
  if (typeof value === 'string') return quote(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

/** Whether a string field may hold an empty text, as far as the viewer can check. */
export function allowsEmptyText({ type, values, options, primaryKey }: SheetField): boolean {
  if (type !== 'string' || primaryKey) return false
  if (values !== null) return values.includes('')
  const { minLength, pattern, format } = options
  if (typeof minLength === 'number' && minLength > 0) return false
  if (typeof format === 'string' && !['password', 'binary', 'byte'].includes(format)) return false
  return typeof pattern !== 'string' || matchesEmpty(pattern)
}

function matchesEmpty(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').test('')
  } catch {
    // Patterns use the server's dialect, so they are not checked here.
    return true
  }
}

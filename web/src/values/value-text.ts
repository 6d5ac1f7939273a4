import { isOfType } from '../api/is-of-type.ts'
import type { SheetField } from '../api/contract.ts'
import { parseNumber, quote, type Parsed } from './parse-number.ts'
import { normalTemporal, TEMPORAL_EXAMPLES } from './temporal-text.ts'

/** The properties of a field that parsing needs. */
export type TextField = Pick<SheetField, 'type'>

/**
 * Parses a text as a value of a field, or returns an error for a text that makes no sense to send; the server
 * validates the rest. An empty text is no value.
 */
export function parseText({ type }: TextField, text: string): Parsed {
  if (type === 'string') return { value: text === '' ? null : text }
  if (text.trim() === '') return { value: null }
  switch (type) {
    case 'integer':
    case 'number':
      return parseNumber(type, text)
    case 'boolean':
      return parseBoolean(text)
    case 'date':
    case 'timestamp':
    case 'time': {
      const normal = normalTemporal(type, text)
      if (normal !== null) return { value: normal }
      const offset = type === 'timestamp' ? ', with an offset,' : ''
      return { error: `${quote(text)} is not a ${type}${offset} such as ${TEMPORAL_EXAMPLES[type]}` }
    }
    case 'array':
    case 'object':
      return parseJson(type, text)
  }
}

function parseBoolean(text: string): Parsed {
  const word = text.trim().toLowerCase()
  if (word === 'true' || word === 'false') return { value: word === 'true' }
  return { error: `${quote(text)} is neither TRUE nor FALSE` }
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
export function unparsedError({ type }: TextField, value: unknown): string | null {
  if (value === null || value === undefined || isOfType(type, value)) return null
  const parsed =
    typeof value === 'string' ? parseText({ type }, value) : { error: `not a value of type ${type}` }
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

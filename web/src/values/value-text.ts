import { isOfType } from '../api/is-of-type.ts'
import type { SheetField } from '../api/contract.ts'
import { parseNumber, quote, type Parsed } from './parse-number.ts'
import { normalTemporal, TEMPORAL_EXAMPLES } from './temporal-text.ts'

/** What reading a text takes to know of a field. */
export type TextField = Pick<SheetField, 'type'>

/**
 * The value that a text means for a field, or why it means none: what would make no sense to send. Everything else is
 * for the server to judge. An empty text is no value; who can tell an empty text from none does so before.
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
      return { fault: `${quote(text)} is not a ${type}${offset} such as ${TEMPORAL_EXAMPLES[type]}` }
    }
    case 'array':
    case 'object':
      return parseJson(type, text)
  }
}

function parseBoolean(text: string): Parsed {
  const word = text.trim().toLowerCase()
  if (word === 'true' || word === 'false') return { value: word === 'true' }
  return { fault: `${quote(text)} is neither TRUE nor FALSE` }
}

function parseJson(type: 'array' | 'object', text: string): Parsed {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { fault: `not JSON: ${reason}` }
  }
  if (value === null) return { value }
  if (isOfType(type, value)) return { value }
  return {
    fault: type === 'array' ? 'not a JSON array such as ["a", "b"]' : 'not a JSON object such as {"a": 1}',
  }
}

/** Why a value makes no sense for the field, or null: an editor was left with such a text in it. */
export function senseFault({ type }: TextField, value: unknown): string | null {
  if (value === null || value === undefined || isOfType(type, value)) return null
  const parsed =
    typeof value === 'string' ? parseText({ type }, value) : { fault: `not a value of type ${type}` }
  return 'fault' in parsed ? parsed.fault : null
}

/** A value as it is copied, and edited as text; null for no value. */
export function copyText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE'
  return JSON.stringify(value)
}

/** A value as messages name it. */
export function shownValue(value: unknown): string {
  const text = copyText(value)
  if (text === null) return 'no value'
  if (typeof value === 'string') return quote(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

/** Whether a string field may hold an empty text, as far as can be told here. */
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
    // Patterns are the server's dialect, not the browser's.
    return true
  }
}

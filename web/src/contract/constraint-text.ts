import type { SheetField } from '../api/contract.ts'
import { countOf, formatCount } from '../ui/format.ts'

/** A constraint of a field as text; patterns and value lists are separate kinds, which the table formats itself. */
export type Constraint =
  | { readonly kind: 'words'; readonly text: string }
  | { readonly kind: 'values'; readonly values: readonly (string | number | boolean)[] }
  | { readonly kind: 'pattern'; readonly pattern: string }

type Options = SheetField['options']

export function constraintsOf(field: SheetField): readonly Constraint[] {
  const { required, unique, primaryKey, values, options, type } = field
  const words = [
    primaryKey ? 'identifies the record' : null,
    required ? 'required' : null,
    unique ? 'unique' : null,
    type === 'string' ? betweenText(options, 'minLength', 'maxLength', 'character') : null,
    type === 'array' ? betweenText(options, 'minItems', 'maxItems', 'item') : null,
    type === 'object'
      ? betweenText(options, 'minProperties', 'maxProperties', 'property', 'properties')
      : null,
    ...boundsText(field),
    options['multipleOf'] === undefined ? null : `a multiple of ${plain(options['multipleOf'])}`,
    options['uniqueItems'] === true ? 'unique items' : null,
    Array.isArray(options['required']) ? `has ${options['required'].map(plain).join(', ')}` : null,
    formatText(type, options['format']),
  ]
  return [
    ...words.filter((text) => text !== null).map((text) => ({ kind: 'words', text }) as const),
    ...(values === null ? [] : [{ kind: 'values', values } as const]),
    ...(typeof options['pattern'] === 'string'
      ? [{ kind: 'pattern', pattern: options['pattern'] } as const]
      : []),
  ]
}

/** `1 to 100 characters`, `at least 1 item`. */
function betweenText(
  options: Options,
  low: string,
  high: string,
  one: string,
  many = `${one}s`,
): string | null {
  const [least, most] = [options[low], options[high]]
  const hasLeast = typeof least === 'number' && least > 0
  if (typeof most !== 'number') return hasLeast ? `at least ${countOf(least, one, many)}` : null
  if (!hasLeast) return `at most ${countOf(most, one, many)}`
  return least === most
    ? `exactly ${countOf(least, one, many)}`
    : `${formatCount(least)} to ${countOf(most, one, many)}`
}

/** `from 0 to 4`, `above 0`, `at most 20,000,000`; "not before" and "not after" for dates and times. */
function boundsText({ type, options }: SheetField): readonly (string | null)[] {
  const isTime = type === 'date' || type === 'timestamp' || type === 'time'
  const words = isTime
    ? { from: 'not before', above: 'after', to: 'not after', below: 'before' }
    : { from: 'at least', above: 'above', to: 'at most', below: 'below' }
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = options
  // In version 3.0 of the standard these are booleans that make `minimum` and `maximum` exclusive.
  const above = exclusiveMinimum === true ? minimum : isBound(exclusiveMinimum) ? exclusiveMinimum : undefined
  const below = exclusiveMaximum === true ? maximum : isBound(exclusiveMaximum) ? exclusiveMaximum : undefined
  const from = exclusiveMinimum === true ? undefined : minimum
  const to = exclusiveMaximum === true ? undefined : maximum
  const range = isBound(from) && isBound(to) ? `from ${plain(from)} to ${plain(to)}` : null
  return [
    range,
    range === null && isBound(from) ? `${words.from} ${plain(from)}` : null,
    isBound(above) ? `${words.above} ${plain(above)}` : null,
    range === null && isBound(to) ? `${words.to} ${plain(to)}` : null,
    isBound(below) ? `${words.below} ${plain(below)}` : null,
  ]
}

function isBound(value: unknown): value is number | string {
  return typeof value === 'number' || typeof value === 'string'
}

const CHECKED_FORMATS: Readonly<Record<string, string>> = {
  email: 'an e-mail address',
  uuid: 'a UUID',
  uri: 'a URI',
  hostname: 'a host name',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  byte: 'base64',
}

/** Other formats are stored but not validated. */
function formatText(type: SheetField['type'], format: unknown): string | null {
  if (typeof format !== 'string') return null
  if (type === 'string') return CHECKED_FORMATS[format] ?? null
  const bits = type === 'integer' ? /^([iu])(\d+)$/.exec(format) : null
  return bits && `${bits[1] === 'u' ? 'not negative, ' : ''}${bits[2]} bits`
}

function plain(value: unknown): string {
  return typeof value === 'number' ? value.toLocaleString('en', { maximumFractionDigits: 20 }) : String(value)
}

/** Returns who may edit a field, as text. */
export function writersText({ editableBy, derived }: SheetField): string {
  if (editableBy === null) return derived === null ? 'anybody' : 'read-only'
  if (editableBy.length === 0) return 'read-only'
  return editableBy.includes('*') ? 'anybody' : joinNames(editableBy)
}

/** Joins names: `a`, `a or b`, `a, b or c`. */
export function joinNames(names: readonly string[]): string {
  if (names.length < 2) return names.join('')
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1) ?? ''}`
}

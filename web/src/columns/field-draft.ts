import type { FieldType, SheetField } from '../api/contract.ts'
import { quote } from '../values/parse-number.ts'
import { parseText } from '../values/value-text.ts'

/** The actors who may edit a field: the default of the contract, one of the usual permissions, or patterns. */
export type Editors = 'default' | 'anybody' | 'people' | 'nobody' | 'patterns'

/** The settings of a field in a form. */
export interface FieldDraft {
  readonly name: string
  /** The heading in the grid; empty for the name. */
  readonly title: string
  readonly type: FieldType
  readonly description: string
  readonly required: boolean
  readonly unique: boolean
  /** The allowed values, one on a line; empty for any. */
  readonly values: string
  readonly editors: Editors
  /** Patterns of actors, separated by commas; only with `patterns`. */
  readonly patterns: string
}

export const EMPTY_DRAFT: FieldDraft = {
  name: '',
  title: '',
  type: 'string',
  description: '',
  required: false,
  unique: false,
  values: '',
  editors: 'default',
  patterns: '',
}

const PRESETS: Readonly<Partial<Record<string, Editors>>> = {
  '*': 'anybody',
  'human:*': 'people',
  '': 'nobody',
}

/** Returns the settings of a field. */
export function draftOf(field: SheetField): FieldDraft {
  const { name, title, type, description, required, unique, values, editableBy } = field
  const patterns = editableBy?.join(', ') ?? ''
  const editors = editableBy === null ? 'default' : (PRESETS[patterns] ?? 'patterns')
  return {
    name,
    title: title === name ? '' : title,
    type,
    description: description ?? '',
    required,
    unique,
    values: values?.map(String).join('\n') ?? '',
    editors,
    patterns: editors === 'patterns' ? patterns : '',
  }
}

/** Returns the patterns of the actors who may edit a field; null for the default of the contract. */
export function editableByOf({ editors, patterns }: FieldDraft): readonly string[] | null {
  switch (editors) {
    case 'default':
      return null
    case 'anybody':
      return ['*']
    case 'people':
      return ['human:*']
    case 'nobody':
      return []
    case 'patterns':
      return patterns
        .split(',')
        .map((pattern) => pattern.trim())
        .filter((pattern) => pattern !== '')
  }
}

/** Whether a field of a type can have a closed list of values. */
export function mayBeClosed(type: FieldType): boolean {
  return type !== 'array' && type !== 'object' && type !== 'boolean'
}

/** Returns the allowed values, or the error of the first that is not of the type; null for any value. */
export function closedListOf({
  values,
  type,
}: Pick<FieldDraft, 'values' | 'type'>):
  readonly (string | number | boolean)[] | { readonly error: string } | null {
  const texts = values
    .split('\n')
    .map((text) => text.trim())
    .filter((text) => text !== '')
  if (texts.length === 0 || !mayBeClosed(type)) return null
  const list: (string | number | boolean)[] = []
  for (const text of texts) {
    const parsed = parseText({ type }, text)
    if ('error' in parsed) return { error: `Allowed values: ${parsed.error}` }
    list.push(parsed.value as string | number | boolean)
  }
  return list
}

/** Returns why a draft cannot be a field, as far as the page knows; null if it can. */
export function draftProblem(draft: FieldDraft, others: readonly string[]): string | null {
  const { name, editors } = draft
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    return name === '' ? null : 'A field name has letters, digits and _, and does not begin with a digit.'
  const same = others.find((other) => other.toLowerCase() === name.toLowerCase())
  if (same !== undefined) return `There is a field ${quote(same)} already. Choose another name.`
  if (editors === 'patterns' && editableByOf(draft)?.length === 0)
    return 'Name who may edit the field, such as human:* or agent:pricing.'
  const list = closedListOf(draft)
  return list !== null && 'error' in list ? list.error : null
}

/** Returns a field name for a heading: `Area (km²)` becomes `area_km2`; empty if nothing of it can be in a name. */
export function nameOfHeading(heading: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(heading.trim())) return heading.trim()
  const name = heading
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll(/[\u0300-\u036F]/g, '')
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
  return /^\d/.test(name) ? `_${name}` : name
}

/** Types by the words of a name, the first that fits. */
const GUESSES: readonly (readonly [RegExp, FieldType])[] = [
  [/^(is|has|can|was|needs)_|_(ok|done)$|^(done|active|enabled|paid|checked)$/, 'boolean'],
  [/_at$|timestamp/, 'timestamp'],
  [/(^|_)(date|day|birthday|deadline|due)$|_on$/, 'date'],
  [/(^|_)time$/, 'time'],
  [
    /(^|_)(count|number_of|population|inhabitants|people|employees|quantity|qty|year|age|rank)(_|$)/,
    'integer',
  ],
  [
    /(^|_)(price|cost|amount|rate|ratio|share|percent|percentage|area|density|score|weight|height|width|length|distance|temperature|latitude|longitude|lat|lng|lon|revenue|salary|total|km2|kg)(_|$)/,
    'number',
  ],
  [/(^|_)(tags|keywords)$/, 'array'],
]

/** Guesses the type of a field from its name. */
export function guessType(name: string): FieldType {
  const words = name.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toLowerCase()
  return GUESSES.find(([pattern]) => pattern.test(words))?.[1] ?? 'string'
}

/** Returns the type of a field that has a JSON value. */
export function typeOfValue(value: unknown): FieldType {
  switch (typeof value) {
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'object':
      return Array.isArray(value) ? 'array' : 'object'
    default:
      return 'string'
  }
}

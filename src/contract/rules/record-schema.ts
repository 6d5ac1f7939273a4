import { boundsOf, type Bound } from '../values/bounds.ts'
import type { Contract, Field, LogicalType, PropertyRule, ValueRule } from '../contract.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json.ts'
import { valueError } from '../values/validate-value.ts'

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>

const TYPES = {
  string: { type: 'string' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date' },
  timestamp: { type: 'string', format: 'date-time' },
  time: { type: 'string' },
  array: { type: 'array' },
  object: { type: 'object' },
} as const

/** The notation of dates and times in a body; `format` alone has other meanings elsewhere. */
const OFFSET = '(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])'
const CLOCK = String.raw`([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?`
const DAY = '[0-9]{4}-[0-9]{2}-[0-9]{2}'

/** A time with an offset, as in bodies and `as_of`. */
export const TIMESTAMP_SCHEMA: JsonSchema = {
  type: 'string',
  format: 'date-time',
  pattern: `^${DAY}T${CLOCK}${OFFSET}$`,
}

const PATTERNS: Readonly<Record<string, string>> = {
  date: `^${DAY}$`,
  timestamp: `^${DAY}T${CLOCK}${OFFSET}$`,
  time: `^${CLOCK}${OFFSET}?$`,
  // Text that can be stored (D13).
  string: String.raw`^[^\u0000]*$`,
}

/** The pattern of every id (D14). */
const ID_PATTERN = String.raw`^[^\s,\u0000-\u001f\u007f-\u009f]([^,\u0000-\u001f\u007f-\u009f]*[^\s,\u0000-\u001f\u007f-\u009f])?$`

/** Returns the keywords for an id, in addition to those of the contract (D14). */
function idKeywords({ options }: Field): JsonSchema {
  const { minLength = 1, maxLength = 512, pattern } = options
  const isOwn = typeof pattern === 'string' && isEcmaPattern(pattern)
  return {
    minLength: Math.max(1, Number(minLength)),
    maxLength: Math.min(512, Number(maxLength)),
    ...(isOwn ? { allOf: [{ pattern: ID_PATTERN }] } : { pattern: ID_PATTERN }),
  }
}

/** Options of the contract with the same name and meaning in JSON Schema. */
const SHARED_OPTIONS = [
  'minLength',
  'maxLength',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
]
/** Formats of strings with the same name in JSON Schema. */
const FORMATS: readonly unknown[] = ['email', 'uuid', 'uri', 'hostname', 'ipv4', 'ipv6']

/**
 * Returns the schema of a record in a response. No field is required, since a request may choose its fields, and only
 * types and closed lists are included, for readers.
 */
export function recordSchema(contract: Contract): JsonSchema {
  const properties = fieldSchemas(contract, (field) => valueSchema(field, false))
  return { type: 'object', description: 'A record of the sheet.', properties, ...exampleOf(properties) }
}

/** Returns the schema of a record in a body, with all constraints of the contract. */
export function recordInputSchema(contract: Contract): JsonSchema {
  const properties = fieldSchemas(contract, (field) => ({
    ...valueSchema(field, true),
    ...(field.primaryKey ? idKeywords(field) : {}),
  }))
  const key = contract.fields.find(({ primaryKey }) => primaryKey)?.name ?? 'id'
  return {
    type: 'object',
    description:
      'A record to insert or update. Fields that are absent keep their values, so only the key must be there; a new record needs every field that the contract requires.',
    properties,
    required: [key],
    additionalProperties: false,
    ...exampleOf(properties),
  }
}

function fieldSchemas(
  contract: Contract,
  schemaOf: (field: Field) => JsonSchema,
): Readonly<Record<string, JsonSchema>> {
  const notes = propertiesOf(contract)
  return Object.fromEntries(
    contract.fields.map((field, index) => {
      const { description, examples } = notes[index] ?? {}
      // Examples in the contract are not validated.
      const good = (Array.isArray(examples) ? (examples as JsonValue[]) : []).filter(
        (value) => value !== null && valueError(field, value) === null,
      )
      return [
        field.name,
        {
          ...schemaOf(field),
          ...(typeof description === 'string' ? { description } : {}),
          ...(good.length === 0 ? {} : { examples: good }),
        },
      ]
    }),
  )
}

function propertiesOf({ document }: Contract): readonly JsonObject[] {
  const [entry] = document['schema'] as readonly JsonObject[]
  return (entry?.['properties'] ?? []) as readonly JsonObject[]
}

/** Returns an example record from the examples of its fields; none if the key has no example. */
function exampleOf(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const example: Record<string, unknown> = {}
  for (const [name, { examples }] of Object.entries(properties)) {
    if (Array.isArray(examples)) example[name] = examples[0]
  }
  return Object.keys(example).length === 0 ? {} : { examples: [example] }
}

function valueSchema(rule: ValueRule, strict: boolean): JsonSchema {
  const type = rule.type === null ? {} : TYPES[rule.type]
  const schema: JsonSchema = {
    ...type,
    ...(rule.items === undefined ? {} : { items: valueSchema(rule.items, strict) }),
    ...(rule.properties === undefined ? {} : { properties: nested(rule.properties, strict) }),
    ...(strict ? { ...constraintsOf(rule), ...requiredOf(rule) } : {}),
    ...(rule.validValues === null ? {} : { enum: rule.validValues }),
  }
  return rule.required ? schema : orNull(schema)
}

function nested(rules: readonly PropertyRule[], strict: boolean): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(rules.map((rule) => [rule.name, valueSchema(rule, strict)]))
}

function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values } = schema
  return {
    ...schema,
    ...(type === undefined ? {} : { type: [type, 'null'] }),
    ...(Array.isArray(values) ? { enum: [...(values as unknown[]), null] } : {}),
  }
}

function constraintsOf({ type, options }: ValueRule): JsonSchema {
  const shared = SHARED_OPTIONS.filter((name) => options[name] !== undefined).map((name) => [
    name,
    options[name],
  ])
  const { pattern, format } = options
  const known = typeof pattern === 'string' && isEcmaPattern(pattern) ? pattern : PATTERNS[type ?? '']
  return {
    ...(Object.fromEntries(shared) as JsonSchema),
    ...rangeOf(type, options),
    ...(known === undefined ? {} : { pattern: known }),
    ...(type === 'string' && FORMATS.includes(format) ? { format } : {}),
  }
}

/** Returns the required properties of an object. */
function requiredOf({ options, properties = [] }: ValueRule): JsonSchema {
  const listed = Array.isArray(options['required']) ? (options['required'] as readonly string[]) : []
  const names = new Set([...listed, ...properties.filter(({ required }) => required).map(({ name }) => name)])
  return names.size === 0 ? {} : { required: [...names] }
}

/** Returns the range of a number; integers are those that JSON parsers keep (D13). */
function rangeOf(type: ValueRule['type'], options: ValueRule['options']): JsonSchema {
  if (type !== 'integer' && type !== 'number') return {}
  const { lower, upper } = boundsOf(type, options)
  const most = type === 'integer' ? Number.MAX_SAFE_INTEGER : undefined
  return {
    ...endOf(lower, ['minimum', 'exclusiveMinimum'], most === undefined ? undefined : -most),
    ...endOf(upper, ['maximum', 'exclusiveMaximum'], most),
  }
}

function endOf(
  bound: Bound | null,
  [inclusive, exclusive]: readonly [string, string],
  otherwise: number | undefined,
): JsonSchema {
  if (bound !== null) return { [bound.inclusive ? inclusive : exclusive]: bound.value }
  return otherwise === undefined ? {} : { [inclusive]: otherwise }
}

/** Whether a pattern means the same in ECMA-262: contracts use RE2, and nearly all of its patterns do. */
function isEcmaPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').source !== ''
  } catch {
    return false
  }
}

/** Returns the purpose of the contract; empty if it has none. */
export function purposeOf({ document }: Contract): string {
  const { description } = document
  const purpose = isJsonObject(description) ? description['purpose'] : description
  return typeof purpose === 'string' ? purpose : ''
}

/** Returns the schema of a value to compare with a field of the type, or an item of it. */
export function operandSchema(type: LogicalType): JsonSchema {
  if (type === 'array' || type === 'object') {
    return { anyOf: [operandSchema('string'), { type: 'number' }, { type: 'boolean' }] }
  }
  const pattern = PATTERNS[type]
  const { type: jsonType, ...rest } = TYPES[type]
  // Integers can be compared with any number.
  const isInteger = jsonType === 'integer'
  return { type: isInteger ? 'number' : jsonType, ...rest, ...(pattern === undefined ? {} : { pattern }) }
}

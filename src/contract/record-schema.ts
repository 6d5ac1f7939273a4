import type { Contract, Field, PropertyRule, ValueRule } from './contract.ts'
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'
import { faultOf } from './validate-value.ts'

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

/** Options of the contract that JSON Schema has under the same name and with the same meaning. */
const SHARED_OPTIONS = [
  'minLength',
  'maxLength',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'required',
]
const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']
/** Formats of strings that JSON Schema calls the same. */
const FORMATS: readonly unknown[] = ['email', 'uuid', 'uri', 'hostname', 'ipv4', 'ipv6']

/**
 * A record in an answer, by the contract. No field must be there, since a request may choose its fields; and of what the
 * contract holds against values only types and closed lists are told, which is what a reader goes by.
 */
export function recordSchema(contract: Contract): JsonSchema {
  const properties = fieldSchemas(contract, (field) => valueSchema(field, false))
  return { type: 'object', description: 'A record of the sheet.', properties, ...exampleOf(properties) }
}

/** A record in a body, by the contract: all that it holds against the values. */
export function recordInputSchema(contract: Contract): JsonSchema {
  const properties = fieldSchemas(contract, (field) => valueSchema(field, true))
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
      // What the contract gives as examples it does not check.
      const good = (Array.isArray(examples) ? (examples as JsonValue[]) : []).filter(
        (value) => value !== null && faultOf(field, value) === null,
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

/** An example of a whole record from those of its fields; none without one for the first, the key. */
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
    ...(strict ? constraintsOf(rule) : {}),
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
  const names = type === 'integer' || type === 'number' ? [...SHARED_OPTIONS, ...BOUNDS] : SHARED_OPTIONS
  const shared = names.filter((name) => options[name] !== undefined).map((name) => [name, options[name]])
  const { pattern, format } = options
  return {
    ...(Object.fromEntries(shared) as JsonSchema),
    ...(typeof pattern === 'string' && isEcmaPattern(pattern) ? { pattern } : {}),
    ...(type === 'string' && FORMATS.includes(format) ? { format } : {}),
  }
}

/** Patterns of contracts are those of RE2; nearly all of them mean the same here. */
function isEcmaPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').source !== ''
  } catch {
    return false
  }
}

/** What the contract says that the sheet is for; an empty text when it does not. */
export function purposeOf({ document }: Contract): string {
  const { description } = document
  const purpose = isJsonObject(description) ? description['purpose'] : description
  return typeof purpose === 'string' ? purpose : ''
}

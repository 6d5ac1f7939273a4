import type { Contract, Field, LogicalType } from '../contract/contract.ts'
import { own } from '../contract/odcs/document-shape.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../contract/json/json.ts'

const PROFILE = 'https://datapackage.org/profiles/2.0/tableschema.json'

/** The types of Table Schema for the types of a contract. */
const TYPES: Readonly<Record<LogicalType, string>> = {
  string: 'string',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'datetime',
  time: 'time',
  array: 'array',
  object: 'object',
}

/** The string formats that Table Schema has too. */
const FORMATS: Readonly<Record<string, string>> = {
  email: 'email',
  uri: 'uri',
  uuid: 'uuid',
  byte: 'binary',
}

/** The names of bounds, the same in contracts. */
const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const

/**
 * Returns the Table Schema (Frictionless, v2) of records as {@link writeCsv} writes them. It accepts every record
 * that the contract allows; constraints that it cannot express, such as `multipleOf`, are omitted. `derived` names
 * the fields that may be empty although they are required, since they may not be computed yet.
 */
export function tableSchema(contract: Contract, derived: ReadonlySet<string>): JsonObject {
  return {
    $schema: PROFILE,
    fields: contract.fields.map((field, index) =>
      describeField(field, { property: propertyOf(contract, index), derived: derived.has(field.name) }),
    ),
    primaryKey: ['id'],
    missingValues: [''],
  }
}

interface Facts {
  readonly property: JsonObject
  readonly derived: boolean
}

function describeField(field: Field, { property, derived }: Facts): JsonObject {
  const constraints = constraintsOf(field, derived)
  return {
    name: field.name,
    type: TYPES[field.type],
    ...formatOf(field),
    ...textOf('title', own(property, 'businessName')),
    ...textOf('description', own(property, 'description')),
    ...(Object.keys(constraints).length === 0 ? {} : { constraints }),
  }
}

function formatOf({ type, options }: Field): JsonObject {
  // Seconds may be left out (D6), which is no lexical form of XML Schema.
  if (type === 'timestamp' || type === 'time') return { format: 'any' }
  const format = type === 'string' ? options['format'] : null
  const known = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined
  return known === undefined ? {} : { format: known }
}

function constraintsOf(
  { type, required, unique, primaryKey, options, validValues }: Field,
  derived: boolean,
): JsonObject {
  const [least, most] =
    type === 'string'
      ? ['minLength', 'maxLength']
      : type === 'array'
        ? ['minItems', 'maxItems']
        : ['minProperties', 'maxProperties']
  const sized = type === 'string' || type === 'array' || type === 'object'
  return {
    ...(required && !derived ? { required } : {}),
    ...(unique || primaryKey ? { unique: true } : {}),
    ...(sized ? { ...renamed(options, least, 'minLength'), ...renamed(options, most, 'maxLength') } : {}),
    ...(type === 'integer' || type === 'number' || type === 'date'
      ? Object.assign({}, ...BOUNDS.map((bound) => renamed(options, bound, bound)))
      : {}),
    ...(type === 'string' && typeof options['pattern'] === 'string'
      ? { pattern: wholePattern(options['pattern']) }
      : {}),
    ...(validValues === null ? {} : { enum: [...validValues] }),
  }
}

function renamed(options: JsonObject, from: string | undefined, to: string): JsonObject {
  const value = from === undefined ? null : own(options, from)
  return value === null ? {} : { [to]: value }
}

/**
 * Returns the pattern for Table Schema, where a pattern must match the whole text; in a contract it matches anywhere.
 */
function wholePattern(pattern: string): string {
  return pattern.startsWith('^') && !pattern.includes('|') ? pattern : `^[\\s\\S]*?(?:${pattern})[\\s\\S]*$`
}

function textOf(key: string, value: JsonValue): JsonObject {
  return typeof value === 'string' ? { [key]: value } : {}
}

function propertyOf({ document }: Contract, index: number): JsonObject {
  const [entry] = document['schema'] as readonly [JsonObject]
  const property = (entry['properties'] as readonly JsonValue[])[index]
  return isJsonObject(property) ? property : {}
}

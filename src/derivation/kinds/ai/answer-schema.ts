import type { Contract } from '../../../contract/contract.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json/json.ts'
import { recordInputSchema } from '../../../contract/rules/record-schema.ts'

/** Keywords that structured output does not take everywhere; what they mean is put into the description. */
const WORDED = [
  'pattern',
  'format',
  'minLength',
  'maxLength',
  'multipleOf',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'exclusiveMaximum',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
]

/** Most values of a closed list that are sent; APIs refuse longer ones. */
const MAX_ENUM = 500

/** Bounds and patterns of every value of a type, which say nothing about a field. */
const GENERAL: readonly JsonValue[] = [
  Number.MAX_SAFE_INTEGER,
  -Number.MAX_SAFE_INTEGER,
  String.raw`^[^\u0000]*$`,
]

/**
 * Returns the JSON Schema of an answer with these targets, from the contract: an object with all targets, each with its type, closed list
 * and description. All properties are required and no others are allowed, as structured output demands; bounds and patterns are worded in
 * the descriptions, since the APIs take different ones, and are validated when the answer is there.
 */
export function answerSchema(contract: Contract, targets: readonly string[]): JsonObject {
  const { properties } = recordInputSchema(contract) as unknown as { readonly properties: JsonObject }
  return {
    type: 'object',
    properties: Object.fromEntries(
      targets.map((target) => {
        const schema = properties[target]
        return [target, isJsonObject(schema) ? reduced(schema) : {}]
      }),
    ),
    required: targets,
    additionalProperties: false,
  }
}

function reduced(schema: JsonObject): JsonObject {
  const { type, enum: values, items, properties, description } = schema
  const worded = WORDED.flatMap((name) => {
    const value = schema[name]
    return value === undefined || GENERAL.includes(value) ? [] : [`${name} ${JSON.stringify(value)}`]
  })
  const said = [...(typeof description === 'string' ? [description] : []), ...worded].join('; ')
  return {
    ...(type !== undefined && { type }),
    ...(said !== '' && { description: said }),
    ...(Array.isArray(values) && values.length <= MAX_ENUM && { enum: values }),
    ...(isJsonObject(items) && { items: reduced(items) }),
    ...(isObjectType(type) && isJsonObject(properties) && nested(properties)),
  }
}

function isObjectType(type: JsonValue | undefined): boolean {
  return type === 'object' || (Array.isArray(type) && (type as readonly JsonValue[]).includes('object'))
}

/** Objects of an answer have the properties of the contract; those that it does not require can be null. */
function nested(properties: JsonObject): JsonObject {
  return {
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, isJsonObject(schema) ? reduced(schema) : {}]),
    ),
    required: Object.keys(properties),
    additionalProperties: false,
  }
}

/** Whether structured output can express the schema: every value below it has a type, and objects name their properties. */
export function isStrict(schema: JsonValue | undefined): boolean {
  if (!isJsonObject(schema)) return false
  const { type, items, properties } = schema
  if (type === undefined) return false
  const types = Array.isArray(type) ? (type as readonly JsonValue[]) : [type]
  if (types.includes('array') && !isStrict(items)) return false
  if (!types.includes('object')) return true
  return (
    isJsonObject(properties) &&
    Object.keys(properties).length > 0 &&
    Object.values(properties).every(isStrict)
  )
}

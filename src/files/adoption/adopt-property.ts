import { LOGICAL_TYPES, type LogicalType } from '../../contract/contract.ts'
import { own } from '../../contract/odcs/document-shape.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { typeOfName } from './physical-types.ts'

/** A property of a foreign contract during its conversion to a field. */
export interface AdoptedProperty {
  /** The converted property. */
  readonly property: JsonObject
  /** The original name. */
  readonly original: string
  readonly type: LogicalType
  /** Whether it becomes `id`. */
  readonly isKey: boolean
  /** Whether it is an added `id` for which the contract has no property. */
  readonly made: boolean
  readonly doubts: readonly string[]
}

/** Gives a property the type of a field: its own, or that of a type name of another system. */
export function adoptType(property: JsonObject): AdoptedProperty {
  const { type, doubt } = typeOf(property)
  const adopted = { ...withNestedTypes(property), logicalType: type }
  return {
    property: adopted,
    original: nameOf(property),
    type,
    isKey: false,
    made: false,
    doubts: doubt === null ? [] : [doubt],
  }
}

/** Returns the name of a part of a contract, empty if it has none. */
export function nameOf(part: JsonObject): string {
  const name = own(part, 'name')
  return typeof name === 'string' ? name : ''
}

interface FoundType {
  readonly type: LogicalType
  readonly doubt: string | null
}

function typeOf(property: JsonObject): FoundType {
  const logical = own(property, 'logicalType')
  const physical = own(property, 'physicalType')
  const meant = typeof physical === 'string' ? typeOfName(physical) : null
  const known = LOGICAL_TYPES.find((name) => name === logical)
  // Before v3.1 the standard had no other type for a point in time.
  if (known === 'date' && meant === 'timestamp') {
    return { type: 'timestamp', doubt: `a timestamp, by its physicalType ${showValue(physical)}` }
  }
  if (known !== undefined) return { type: known, doubt: null }
  const renamed = typeof logical === 'string' ? typeOfName(logical) : null
  if (renamed !== null)
    return { type: renamed, doubt: `the logicalType ${showValue(logical)} is ${renamed} here` }
  if (meant !== null) return { type: meant, doubt: `${meant}, by its physicalType ${showValue(physical)}` }
  const inside = own(property, 'properties') === null ? own(property, 'items') : 'properties'
  if (inside !== null) return { type: inside === 'properties' ? 'object' : 'array', doubt: null }
  const why = physical === null ? 'no type is said' : `the type ${showValue(physical)} is unknown`
  return { type: 'string', doubt: `${why}: read as text` }
}

/** Validates nested types: below a field, the type may be absent but not unknown. */
function withNestedTypes(property: JsonObject): JsonObject {
  const items = own(property, 'items')
  const properties = own(property, 'properties')
  return {
    ...property,
    ...(isJsonObject(items) ? { items: withKnownType(items) } : {}),
    ...(Array.isArray(properties)
      ? {
          properties: (properties as readonly JsonValue[]).map((inner) =>
            isJsonObject(inner) ? withKnownType(inner) : inner,
          ),
        }
      : {}),
  }
}

function withKnownType(property: JsonObject): JsonObject {
  const nested = withNestedTypes(property)
  const logical = own(property, 'logicalType')
  if (logical === null || LOGICAL_TYPES.some((name) => name === logical)) return nested
  const meant = typeof logical === 'string' ? typeOfName(logical) : null
  return meant === null ? nested : { ...nested, logicalType: meant }
}

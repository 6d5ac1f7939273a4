import { actorPatterns, patternList } from './actor-patterns.ts'
import { customProperty, customValues } from './custom-property.ts'
import type { Field, LogicalType, PropertyRule } from '../contract.ts'
import { LOGICAL_TYPES } from '../contract.ts'
import { at, checkKeys, checkShape, own } from './document-shape.ts'
import type { MapShape, Path, Shape, ShapeContext } from './document-shape.ts'
import type { JsonObject, JsonValue } from '../json/json.ts'
import { nearest } from '../nearest.ts'
import { PROPERTY } from './odcs-schema.ts'
import { checkOriginalName } from './original-names.ts'
import { closedList } from './quality-rules.ts'
import { showValue } from '../json/show-value.ts'
import { parseOptions } from './logical-type-options.ts'

const FIELD_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** The level of a rule in the contract, which decides its allowed and required keys. */
type Level = 'field' | 'property' | 'items'

/**
 * Names that cannot work: `__proto__` cannot be set by plain assignment, and SQLite reads `true` and `false` as
 * values, so that a view has no column of that name.
 */
const UNUSABLE_NAMES: ReadonlySet<string> = new Set(['__proto__', 'true', 'false'])

/**
 * Parses an entry of `schema[0].properties` (D5–D7). Throws ContractError if it violates the standard or the rules of
 * the service. `id` may omit `required`, which the primary key implies.
 */
export function parseField(value: JsonValue, path: Path, context: ShapeContext): Field {
  const { property, rule } = parseProperty(value, path, context, 'field')
  const { name } = rule
  if (!FIELD_NAME.test(name)) {
    const rules = 'letters, digits and _, not starting with a digit'
    context.file.fail([...path, 'name'], `the field name ${showValue(name)} must be made of ${rules}`)
  }
  if (UNUSABLE_NAMES.has(name.toLowerCase()))
    context.file.fail([...path, 'name'], `a field cannot be called "${name}"; rename it`)
  const primaryKey = own(property, 'primaryKey') === true
  checkOriginalName(property, path, context)
  return {
    ...rule,
    type: rule.type ?? missingType(name, path, context),
    required: rule.required || (primaryKey && own(property, 'required') === null),
    primaryKey,
    unique: own(property, 'unique') === true,
    indexed: indexed(property, rule.type, path, context),
    editableBy: editableBy(property, path, context),
    declaredDerived: declaredDerived(property, path, context),
    declaredInputs: declaredInputs(property, path, context),
  }
}

interface ParsedProperty {
  readonly property: JsonObject
  readonly rule: PropertyRule
}

function parseProperty(value: JsonValue, path: Path, context: ShapeContext, level: Level): ParsedProperty {
  const type = logicalType(value, path, context)
  checkShape(value, propertyShape(type, level), path, context)
  const property = value as JsonObject
  const properties = own(property, 'properties') as readonly JsonValue[] | null
  const items = own(property, 'items')
  const inferred = type ?? (properties ? 'object' : items === null ? null : 'array')
  const base = {
    name: (own(property, 'name') ?? '') as string,
    type: level === 'field' ? type : inferred,
    required: own(property, 'required') === true,
    options: parseOptions(
      type,
      own(property, 'logicalTypeOptions'),
      [...path, 'logicalTypeOptions'],
      context,
    ),
    validValues: null,
    ...(items === null ? {} : { items: parseProperty(items, [...path, 'items'], context, 'items').rule }),
    ...(properties ? { properties: parseProperties(properties, [...path, 'properties'], context) } : {}),
  }
  const validValues = closedList(own(property, 'quality'), base, [...path, 'quality'], context)
  return { property, rule: { ...base, validValues } }
}

function parseProperties(list: readonly JsonValue[], path: Path, context: ShapeContext): PropertyRule[] {
  const names = new Set<string>()
  return list.map((value, index) => {
    const { rule } = parseProperty(value, [...path, index], context, 'property')
    if (names.has(rule.name)) {
      context.file.fail(
        [...path, index, 'name'],
        `the property ${showValue(rule.name)} is there twice in ${at(path)}`,
      )
    }
    names.add(rule.name)
    return rule
  })
}

function propertyShape(type: LogicalType | null, level: Level): MapShape {
  const keys: Record<string, Shape> = { ...PROPERTY.keys }
  if (type === 'array' || type === null) keys['items'] = 'any'
  // The standard allows `properties` in `items` of any type; they have a meaning in an object only.
  if (type === 'object' || type === null || level === 'items') keys['properties'] = { listOf: 'any' }
  return { ...PROPERTY, keys, required: level === 'items' ? [] : ['name'] }
}

function logicalType(value: JsonValue, path: Path, context: ShapeContext): LogicalType | null {
  const property = checkKeys(value, { keys: {} }, path, context)
  const type = own(property, 'logicalType')
  if (type === null) return null
  const known = LOGICAL_TYPES.find((name) => name === type)
  if (known) return known
  const meant = typeof type === 'string' ? nearest(type, LOGICAL_TYPES) : null
  const advice = meant ? `did you mean "${meant}"?` : `use one of ${LOGICAL_TYPES.join(', ')}`
  return context.file.fail(
    [...path, 'logicalType'],
    `the logicalType ${showValue(type)} is unknown; ${advice}`,
  )
}

function missingType(name: string, path: Path, context: ShapeContext): never {
  const advice = `add one of ${LOGICAL_TYPES.join(', ')}`
  return context.file.fail(path, `the field "${name}" has no logicalType; ${advice}`)
}

/** Reads the custom property `editableBy`, or `x-editable-by` of the property itself (D7). */
function editableBy(property: JsonObject, path: Path, context: ShapeContext): readonly string[] | null {
  const custom = actorPatterns(property, 'editableBy', path, context)
  const key = 'x-editable-by'
  const direct = own(property, key)
  if (direct === null) return custom
  if (custom)
    context.file.fail([...path, key], `${key} and the custom property editableBy mean the same; keep one`)
  return patternList(direct, key, [...path, key], context)
}

/**
 * Reads the custom property `indexed`, or `x-indexed` of the property itself. Stored contracts may be older than
 * these keys: invalid values are ignored there.
 */
function indexed(property: JsonObject, type: LogicalType | null, path: Path, context: ShapeContext): boolean {
  const key = 'x-indexed'
  const direct = own(property, key)
  const isOrdered = type !== 'array' && type !== 'object'
  if (context.stored) return isOrdered && (direct ?? customValues(property, 'indexed')[0]) === true
  const custom = customProperty(property, 'indexed', path, context)
  if (direct !== null && custom !== null)
    context.file.fail([...path, key], `${key} and the custom property indexed mean the same; keep one`)
  const given = custom ?? { value: direct, path: [...path, key] }
  if (given.value === null) return false
  checkShape(given.value, 'boolean', given.path, context)
  if (given.value === true && !isOrdered) {
    context.file.fail(
      given.path,
      `a field of type ${type} has no order, so that an index on it would serve nothing; take it away`,
    )
  }
  return given.value === true
}

function declaredDerived(property: JsonObject, path: Path, context: ShapeContext): boolean | null {
  const value = own(property, 'x-derived')
  if (value !== null) checkShape(value, 'boolean', [...path, 'x-derived'], context)
  return value as boolean | null
}

function declaredInputs(property: JsonObject, path: Path, context: ShapeContext): readonly string[] | null {
  const value = own(property, 'x-inputs')
  if (value !== null) checkShape(value, { listOf: 'string' }, [...path, 'x-inputs'], context)
  return value as readonly string[] | null
}

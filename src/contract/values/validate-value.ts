import canonicalize from 'canonicalize'
import type { Field, PropertyRule, ValueRule } from '../contract.ts'
import { isJsonObject } from '../json/json.ts'
import type { JsonObject, JsonValue } from '../json/json.ts'
import { codePoints, numberChecks, stringChecks, temporalCheck } from './scalar-checks.ts'
import type { Check } from './scalar-checks.ts'
import { showValue } from '../json/show-value.ts'
import { firstError, freeIntegerError, keyStep, located, structureError } from './value-structure.ts'

const compiled = new WeakMap<ValueRule, Check>()

/**
 * Returns the error of a value of the field, or null if it is valid (D6, D13, D14). `undefined` counts as null. The
 * message says what is wrong, the value seen, shortened, and what is allowed, without the name of the field.
 * Uniqueness and permissions are not checked. A rule is compiled at its first use and cached with the contract.
 */
export function valueError(field: Field, value: unknown): string | null {
  return checkOf(field)(value)
}

/**
 * Converts a computed value for storage (D26): a number or boolean for a string field becomes its JSON text; {@link
 * valueError} validates the result.
 */
export function coerceComputed(field: Field, value: JsonValue): JsonValue {
  const textual = typeof value === 'number' || typeof value === 'boolean'
  return field.type === 'string' && textual ? JSON.stringify(value) : value
}

/** Returns the check of {@link valueError}, for callers with many values and for rules without a field. */
export function checkOf(rule: ValueRule): Check {
  let check = compiled.get(rule)
  if (!check) {
    check = compile(rule)
    compiled.set(rule, check)
  }
  return check
}

function compile(rule: ValueRule): Check {
  const checks = checksOf(rule)
  if ('primaryKey' in rule) {
    // Once for the whole value of a field, before other code walks it.
    if (rule.type === 'array' || rule.type === 'object') checks.unshift((value) => structureError(value))
    if (rule.primaryKey) checks.push((value) => idError(value as string))
  }
  if (rule.validValues) checks.push(listCheck(rule.validValues))
  const missing = rule.required ? 'null, but a value is required' : null
  return (value) => {
    if (value === null || value === undefined) return missing
    try {
      for (const check of checks) {
        const fault = check(value)
        if (fault !== null) return fault
      }
      return null
    } catch (error) {
      // For example a regular expression of a library that exhausts the stack: it fails the value, not the run.
      return `${showValue(value)} cannot be checked: ${(error as Error).message}`
    }
  }
}

function checksOf(rule: ValueRule): Check[] {
  switch (rule.type) {
    case 'string':
      return stringChecks(rule.options)
    case 'integer':
    case 'number':
      return numberChecks(rule.type, rule.options)
    case 'boolean':
      return [
        (value) =>
          typeof value === 'boolean' ? null : `${showValue(value)} is not a boolean (true or false)`,
      ]
    case 'date':
    case 'timestamp':
    case 'time':
      return [temporalCheck(rule.type, rule.options)]
    case 'array':
      return arrayChecks(rule)
    case 'object':
      return objectChecks(rule)
    case null:
      return [freeIntegerError]
  }
}

function listCheck(validValues: readonly (string | number | boolean)[]): Check {
  const known = new Set<unknown>(validValues)
  const shown = validValues.slice(0, 20).map(showValue).join(', ')
  const more = validValues.length > 20 ? `, and ${validValues.length - 20} more` : ''
  return (value) => (known.has(value) ? null : `${showValue(value)} is not one of ${shown}${more}`)
}

function arrayChecks(rule: ValueRule): Check[] {
  const { minItems, maxItems, uniqueItems } = rule.options
  const checkItem = rule.items ? checkOf(rule.items) : freeIntegerError
  const checks: Check[] = [
    (value) => (Array.isArray(value) ? null : `${showValue(value)} is not an array`),
    ...sizeChecks((value) => (value as unknown[]).length, 'items', minItems, maxItems),
    (value) => firstError(value as unknown[], (item, index) => located(`[${index}]`, checkItem(item))),
  ]
  if (uniqueItems === true) checks.push((value) => repeatError(value as readonly JsonValue[]))
  return checks
}

function objectChecks(rule: ValueRule): Check[] {
  const { minProperties, maxProperties, required } = rule.options
  const declared = new Set((rule.properties ?? []).map((property) => property.name))
  const checks: Check[] = [
    (value) => (isJsonObject(value) ? null : `${showValue(value)} is not an object`),
    ...sizeChecks((value) => Object.keys(value as object).length, 'properties', minProperties, maxProperties),
  ]
  if (Array.isArray(required)) {
    checks.push((value) => {
      const absent = required.find((name) => !Object.hasOwn(value as object, String(name)))
      return absent === undefined ? null : `the object lacks the property ${showValue(absent)}`
    })
  }
  for (const property of rule.properties ?? []) checks.push(propertyCheck(property))
  checks.push((value) =>
    firstError(Object.entries(value as object), ([key, item]) =>
      declared.has(key) ? null : located(keyStep(key), freeIntegerError(item)),
    ),
  )
  return checks
}

function propertyCheck(rule: PropertyRule): Check {
  const check = checkOf(rule)
  return (value) => {
    const own = Object.hasOwn(value as object, rule.name) ? (value as JsonObject)[rule.name] : undefined
    if (own === undefined && rule.required) return `the object lacks the property ${showValue(rule.name)}`
    return located(keyStep(rule.name), check(own))
  }
}

function sizeChecks(size: (value: unknown) => number, what: string, min: unknown, max: unknown): Check[] {
  const checks: Check[] = []
  if (typeof min === 'number') {
    checks.push((value) => (size(value) >= min ? null : `${size(value)} ${what} are fewer than ${min}`))
  }
  if (typeof max === 'number') {
    checks.push((value) => (size(value) <= max ? null : `${size(value)} ${what} are more than ${max}`))
  }
  return checks
}

function repeatError(items: readonly JsonValue[]): string | null {
  const seen = new Map<string, number>()
  return firstError(items, (item, index) => {
    const text = canonicalize(item) ?? ''
    const earlier = seen.get(text)
    if (earlier !== undefined) return `the items [${earlier}] and [${index}] are equal (${showValue(item)})`
    seen.set(text, index)
    return null
  })
}

/** Returns the error of an id (D14), or null. */
function idError(id: string): string | null {
  if (id === '') return 'an id must have at least 1 character'
  if (id.length > 1024 || (id.length > 512 && codePoints(id) > 512))
    return `${showValue(id)} is longer than the 512 characters of an id`
  if (/\p{Cc}/u.test(id)) return `${showValue(id)} contains a control character, which an id must not`
  if (id.includes(',')) return `${showValue(id)} contains a comma, which an id must not`
  // Every character that `trim` removes: lists of ids are trimmed (D12), so such an id could not be named in one.
  return id.trim() === id ? null : `${showValue(id)} starts or ends with white space, which an id must not`
}

import { boundsOf, withinBounds } from '../values/bounds.ts'
import type { Contract, Field, ValueRule } from '../contract.ts'
import { isMultipleOf } from '../values/decimal.ts'
import type { JsonValue } from '../json/json.ts'

/** The changes from one contract to the next, and their consequences for stored records (D9). */
export interface ContractChange {
  /** The new fields. A required one among them is violated by every stored record. */
  readonly added: readonly Field[]
  readonly removed: readonly Field[]
  readonly retyped: readonly { readonly before: Field; readonly after: Field }[]
  /** The fields, as they are now, that may refuse values that they accepted before: stored values must be checked. */
  readonly recheck: readonly Field[]
  readonly uniqueAdded: readonly Field[]
  readonly uniqueRemoved: readonly Field[]
}

/** The members of a contract that are compared. */
type Fields = Pick<Contract, 'fields' | 'fieldByName'>

/**
 * Compares two contracts (D9). A renamed field is one removed and one added. Relaxed constraints, descriptions,
 * permissions and the order of fields are not changes. If a constraint is not clearly relaxed, the field is in
 * `recheck`.
 */
export function compareContracts(before: Fields, after: Fields): ContractChange {
  const kept = after.fields.flatMap((field) => {
    const earlier = before.fieldByName.get(field.name)
    return earlier ? [{ before: earlier, after: field }] : []
  })
  const sameType = kept.filter((pair) => pair.before.type === pair.after.type)
  // The primary key is always unique.
  const uniqueness = sameType.filter((pair) => !pair.after.primaryKey)
  return {
    added: after.fields.filter((field) => !before.fieldByName.has(field.name)),
    removed: before.fields.filter((field) => !after.fieldByName.has(field.name)),
    retyped: kept.filter((pair) => pair.before.type !== pair.after.type),
    recheck: sameType.filter((pair) => mayRefuse(pair.before, pair.after)).map((pair) => pair.after),
    uniqueAdded: uniqueness
      .filter((pair) => !pair.before.unique && pair.after.unique)
      .map((pair) => pair.after),
    uniqueRemoved: uniqueness
      .filter((pair) => pair.before.unique && !pair.after.unique)
      .map((pair) => pair.after),
  }
}

/** Whether `after` may refuse a value that the rule `before` accepts. */
export function mayRefuse(before: ValueRule, after: ValueRule): boolean {
  return (
    (after.required && !before.required) ||
    typeRefuses(before, after) ||
    optionsRefuse(before, after) ||
    listRefuses(before, after) ||
    (after.items !== undefined && mayRefuse(before.items ?? ANYTHING, after.items)) ||
    propertiesRefuse(before, after)
  )
}

const ANYTHING: ValueRule = { type: null, required: false, options: {}, validValues: null }

function typeRefuses(before: ValueRule, after: ValueRule): boolean {
  if (after.type === null || after.type === before.type) return false
  return !(before.type === 'integer' && after.type === 'number')
}

function propertiesRefuse(before: ValueRule, after: ValueRule): boolean {
  const earlier = new Map<string, ValueRule>(before.properties?.map((property) => [property.name, property]))
  return (after.properties ?? []).some((property) =>
    mayRefuse(earlier.get(property.name) ?? ANYTHING, property),
  )
}

function listRefuses(before: ValueRule, after: ValueRule): boolean {
  if (after.validValues === null) return false
  const allowed = new Set(after.validValues)
  return before.validValues === null || before.validValues.some((value) => !allowed.has(value))
}

function optionsRefuse(before: ValueRule, after: ValueRule): boolean {
  const from = before.options
  const to = after.options
  return (
    ['minLength', 'minItems', 'minProperties'].some((name) => count(to[name], 0) > count(from[name], 0)) ||
    ['maxLength', 'maxItems', 'maxProperties'].some(
      (name) => count(to[name], Infinity) < count(from[name], Infinity),
    ) ||
    !withinBounds(boundsOf(before.type, from), boundsOf(after.type, to)) ||
    stepRefuses(from['multipleOf'], to['multipleOf']) ||
    isNew(from['pattern'], to['pattern']) ||
    // The format of a number is a range, compared above; that of a date or time has no effect.
    (after.type === 'string' && isNew(from['format'], to['format'])) ||
    (to['uniqueItems'] === true && from['uniqueItems'] !== true) ||
    !new Set(names(to['required'])).isSubsetOf(new Set(names(from['required'])))
  )
}

function stepRefuses(before: JsonValue | undefined, after: JsonValue | undefined): boolean {
  if (typeof after !== 'number') return false
  return typeof before !== 'number' || !isMultipleOf(before, after)
}

function isNew(before: JsonValue | undefined, after: JsonValue | undefined): boolean {
  return after !== undefined && after !== before
}

function count(value: JsonValue | undefined, absent: number): number {
  return typeof value === 'number' ? value : absent
}

function names(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : []
}

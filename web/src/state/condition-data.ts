import type {
  CellFilterState,
  CellVerdict,
  Condition as ConditionData,
  ConditionOperator,
} from '../../../src/wire/schema/conditions.ts'
import {
  ANY_COLUMN,
  isOfCell,
  type CellOperator,
  type Condition,
  type ConditionValue,
  type Operator,
  type Scalar,
} from './conditions.ts'

/** Maps operators of the URL to those of the API; a range without its end is two conditions. */
const OPERATORS: Readonly<Record<Exclude<Operator, 'within' | 'during' | CellOperator>, ConditionOperator>> =
  {
    equals: 'equals',
    differs: 'not_equals',
    contains: 'contains',
    excludes: 'not_contains',
    begins: 'starts_with',
    below: 'less_than',
    atMost: 'at_most',
    above: 'greater_than',
    atLeast: 'at_least',
    between: 'between',
    before: 'less_than',
    since: 'at_least',
    anyOf: 'any_of',
    noneOf: 'none_of',
    hasAny: 'has_any',
    hasAll: 'has_all',
    lacks: 'has_none',
    empty: 'empty',
    filled: 'not_empty',
  }

/** Returns one condition for the API from all conditions; null for none. */
export function conditionsToData(conditions: readonly Condition[]): ConditionData | null {
  const [first, ...others] = conditions.map(toData)
  if (first === undefined) return null
  return others.length === 0 ? first : { and: [first, ...others] }
}

function toData({ field, is, value }: Condition): ConditionData {
  if (isOfCell(is)) {
    if (is === 'changedBy') return { run: value as unknown as readonly string[] }
    const fields = field === ANY_COLUMN ? {} : { fields: [field] }
    // The server refuses names that it does not know.
    const names = value as unknown as readonly string[]
    if (is === 'failedWith') return { failure: names, ...fields }
    if (is === 'writtenBy') return { by: names, ...fields }
    if (is === 'writtenIn') return { by_run: names, ...fields }
    if (is === 'reviewed') return { review: value as unknown as readonly CellVerdict[], ...fields }
    const state = value as unknown as readonly CellFilterState[]
    const data = { state, ...fields }
    return is === 'inState' ? data : { not: data }
  }
  if (is === 'within' || is === 'during') {
    const [from, to] = endsOf(value)
    return {
      and: [
        { field, operator: 'at_least', value: from },
        { field, operator: 'less_than', value: to },
      ],
    }
  }
  const operator = OPERATORS[is]
  return value === null ? { field, operator } : { field, operator, value }
}

function endsOf(value: ConditionValue): readonly [Scalar | null, Scalar | null] {
  const ends = Array.isArray(value) ? (value as readonly (Scalar | null)[]) : []
  return [ends[0] ?? null, ends[1] ?? null]
}

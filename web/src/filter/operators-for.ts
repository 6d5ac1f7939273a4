import type { FieldType, SheetField } from '../api/contract.ts'
import {
  ANY_COLUMN,
  OPERATORS,
  type Condition,
  type ConditionValue,
  type Operator,
} from '../state/conditions.ts'

type Kind = 'text' | 'number' | 'boolean' | 'day' | 'moment' | 'list' | 'object'

const KINDS: Readonly<Record<FieldType, Kind>> = {
  string: 'text',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  date: 'day',
  timestamp: 'moment',
  time: 'day',
  array: 'list',
  object: 'object',
}

const COMPARISONS = ['equals', 'differs', 'below', 'atMost', 'above', 'atLeast', 'between'] as const

/** The first operator is the default. */
const BY_KIND: Readonly<Record<Kind, readonly Operator[]>> = {
  text: ['contains', 'excludes', 'begins', 'equals', 'differs', 'anyOf', 'noneOf'],
  number: ['atLeast', 'above', 'atMost', 'below', 'between', 'equals', 'differs'],
  boolean: ['equals'],
  day: COMPARISONS,
  moment: ['since', 'before', 'during'],
  list: ['hasAny', 'hasAll', 'lacks'],
  object: ['contains', 'excludes'],
}

/** The maximum number of distinct values for which a text is picked from a list by default. */
export const FEW_VALUES = 10

/** Returns the operators of a field, the default first. */
export function operatorsFor(
  field: Pick<SheetField, 'name' | 'type' | 'values' | 'derived'>,
): readonly Operator[] {
  const kind = KINDS[field.type]
  const others = BY_KIND[kind]
  const isClosed = field.values !== null && (kind === 'text' || kind === 'number' || kind === 'day')
  const own: readonly Operator[] = !isClosed
    ? others
    : kind === 'text'
      ? ['anyOf', 'noneOf', 'contains']
      : ['anyOf', 'noneOf', ...others]
  const ofState: readonly Operator[] = field.derived === null ? [] : ['inState', 'notInState']
  const ofCell: readonly Operator[] = [...ofState, 'reviewed', 'writtenBy', 'writtenIn']
  return field.name === ANY_COLUMN ? ofCell : [...own, 'empty', 'filled', ...ofCell]
}

const PLAIN: Readonly<Record<Operator, string>> = {
  equals: 'is',
  differs: 'is not',
  contains: 'contains',
  excludes: 'does not contain',
  begins: 'starts with',
  below: 'before',
  atMost: 'up to',
  above: 'after',
  atLeast: 'from',
  between: 'between',
  within: 'from',
  before: 'before',
  since: 'from',
  during: 'between',
  anyOf: 'is any of',
  noneOf: 'is none of',
  hasAny: 'has any of',
  hasAll: 'has all of',
  lacks: 'has none of',
  inState: 'state is any of',
  notInState: 'state is none of',
  reviewed: 'review is any of',
  changedBy: 'changed by runs',
  failedWith: 'failed with any of',
  writtenBy: 'written by any of',
  writtenIn: 'written by runs',
  empty: 'is empty',
  filled: 'is not empty',
}

const NUMERIC: Partial<Record<Operator, string>> = {
  equals: '=',
  differs: '≠',
  below: '<',
  atMost: '≤',
  above: '>',
  atLeast: '≥',
}

const OF_ONE: Partial<Record<Operator, string>> = {
  anyOf: 'is',
  noneOf: 'is not',
  hasAny: 'has',
  hasAll: 'has',
  lacks: 'does not have',
  inState: 'state is',
  notInState: 'state is not',
  reviewed: 'review is',
  changedBy: 'changed by run',
  failedWith: 'failed with',
  writtenBy: 'written by',
  writtenIn: 'written by run',
}

/** Returns the label of an operator; `type` is null if the contract has no such field. */
export function operatorLabel(is: Operator, type: FieldType | null): string {
  const numeric = type === null || KINDS[type] === 'number' ? NUMERIC[is] : undefined
  return numeric ?? PLAIN[is]
}

/** Returns the label of a condition, between its field and its value. */
export function conditionLabel({ is, value }: Condition, type: FieldType | null): string {
  const isOne = Array.isArray(value) && value.length === 1
  return (isOne ? OF_ONE[is] : undefined) ?? operatorLabel(is, type)
}

/** Returns the items of a list; empty for other values. */
export function itemsOf(is: Operator, value: ConditionValue): readonly (string | number | boolean | null)[] {
  return OPERATORS[is] === 'list' && Array.isArray(value)
    ? (value as readonly (string | number | boolean | null)[])
    : []
}

/** Stands for all columns in a condition on cells beside their values. */
export const ANY_COLUMN = '*'

/** A condition of the filter. */
export interface Condition {
  /** The name of the field, or {@link ANY_COLUMN}. */
  readonly field: string
  readonly is: Operator
  /** The operand, in the form that the operator requires. */
  readonly value: ConditionValue
}

export type Scalar = string | number | boolean

/** One value, the two ends of a range, or a list in which null means no value; null for operators without operand. */
export type ConditionValue = Scalar | readonly (Scalar | null)[] | null

/**
 * The operators with the operand that each requires. Their names are part of URLs and must not change. `within` and
 * `during` exclude the end of the range; `before`, `since` and `during` compare timestamps. `inState` and `notInState` take
 * states of the cell, `reviewed` verdicts of its review, `changedBy` runs that have stored values, `failedWith` groups of failures, `writtenBy` patterns of actors and
 * `writtenIn` runs that have written the present values.
 */
export const OPERATORS = {
  equals: 'one',
  differs: 'one',
  contains: 'one',
  excludes: 'one',
  begins: 'one',
  below: 'one',
  atMost: 'one',
  above: 'one',
  atLeast: 'one',
  between: 'range',
  within: 'range',
  before: 'one',
  since: 'one',
  during: 'range',
  anyOf: 'list',
  noneOf: 'list',
  hasAny: 'list',
  hasAll: 'list',
  lacks: 'list',
  inState: 'list',
  notInState: 'list',
  reviewed: 'list',
  changedBy: 'list',
  failedWith: 'list',
  writtenBy: 'list',
  writtenIn: 'list',
  empty: 'nothing',
  filled: 'nothing',
} as const satisfies Readonly<Record<string, 'nothing' | 'one' | 'range' | 'list'>>

export type Operator = keyof typeof OPERATORS

/** The operators about cells instead of their values. */
const OF_CELL = [
  'inState',
  'notInState',
  'reviewed',
  'changedBy',
  'failedWith',
  'writtenBy',
  'writtenIn',
] as const

export type CellOperator = (typeof OF_CELL)[number]

/** Whether an operator is about the state, the review or the writers of a cell instead of its value. */
export function isOfCell(is: Operator): is is CellOperator {
  return OF_CELL.some((each) => each === is)
}

/** Whether a form can edit a condition with this operator. */
export function hasForm(is: Operator): boolean {
  return is !== 'changedBy' && is !== 'failedWith'
}

const LONGEST_LIST = 1000

/** Parses the conditions of the URL; invalid ones are omitted. */
export function parseConditions(text: string | null): readonly Condition[] {
  if (text === null || text === '') return []
  try {
    const found: unknown = JSON.parse(text)
    return Array.isArray(found) ? found.map(toCondition).filter((condition) => condition !== null) : []
  } catch {
    return []
  }
}

function toCondition(given: unknown): Condition | null {
  if (typeof given !== 'object' || given === null) return null
  const { field, is, value } = given as Record<string, unknown>
  if (typeof field !== 'string' || typeof is !== 'string' || !isOperator(is)) return null
  return fits(OPERATORS[is], value) ? { field, is, value } : null
}

function isOperator(name: string): name is Operator {
  return Object.hasOwn(OPERATORS, name)
}

function fits(takes: (typeof OPERATORS)[Operator], value: unknown): value is ConditionValue {
  switch (takes) {
    case 'nothing':
      return value === null
    case 'one':
      return isScalar(value)
    case 'range':
      return (
        Array.isArray(value) &&
        value.length === 2 &&
        value.every(isEnd) &&
        typeof value[0] === typeof value[1]
      )
    case 'list':
      return (
        Array.isArray(value) &&
        value.length > 0 &&
        value.length <= LONGEST_LIST &&
        value.every((each) => each === null || isScalar(each))
      )
  }
}

function isEnd(value: unknown): boolean {
  return isScalar(value) && typeof value !== 'boolean'
}

function isScalar(value: unknown): value is Scalar {
  return (
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value))
  )
}

/**
 * Adds a condition picked in a column summary. It narrows an existing range; a condition that holds already changes
 * nothing.
 */
export function withCondition(conditions: readonly Condition[], added: Condition): readonly Condition[] {
  if (conditions.some((each) => isSame(each, added))) return conditions
  const isNarrowed = (each: Condition): boolean =>
    each.field === added.field && OPERATORS[each.is] === 'range' && OPERATORS[added.is] === 'range'
  return [...conditions.filter((each) => !isNarrowed(each)), added]
}

function isSame(a: Condition, b: Condition): boolean {
  return a.field === b.field && a.is === b.is && JSON.stringify(a.value) === JSON.stringify(b.value)
}

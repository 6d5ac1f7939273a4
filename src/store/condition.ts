import type { Field, LogicalType } from '../contract/contract.ts'
import type { FailureGroupId } from '../errors/failure-group.ts'
import type { FilterState } from './cell-state.ts'
import type { Verdict } from './stored-review.ts'
import type { RunId } from './stored-run.ts'

/**
 * A condition on a record, as data: each engine compiles it to SQL with bound parameters. It is true or false, never
 * unknown: a field without a value meets `empty`, `notEquals`, `notContains`, `noneOf` and `hasNone`, `anyOf` with null in
 * its list, and nothing else.
 */
export type Condition =
  | { readonly kind: 'and' | 'or'; readonly conditions: readonly [Condition, ...Condition[]] }
  | { readonly kind: 'not'; readonly condition: Condition }
  | FieldCondition
  | CellCondition
  | SearchCondition

/** A condition that some field contains a text, ignoring case. */
export interface SearchCondition {
  readonly kind: 'search'
  readonly fields: readonly ConditionField[]
  readonly text: string
}

/** Returns the condition that both hold; null for every record. */
export function bothHold(one: Condition | null, other: Condition | null): Condition | null {
  if (one === null || other === null) return one ?? other
  return { kind: 'and', conditions: [one, other] }
}

/** A condition on the value of one field. */
export interface FieldCondition {
  readonly kind: 'field'
  readonly field: ConditionField
  readonly operator: Operator
  /** The values to compare with: as many as the operator takes, each of a type that fits the field. */
  readonly operands: readonly Operand[]
}

/** A condition on the states of derived cells (D32): that at least one of them is in one of the states. */
export interface StateCondition {
  readonly kind: 'state'
  /** The derived fields whose cells count; null for all. */
  readonly fields: readonly string[] | null
  readonly states: readonly FilterState[]
}

/** A condition on the reviews of cells: that at least one of them has a review in force with one of the verdicts. */
export interface ReviewCondition {
  readonly kind: 'review'
  /** The fields whose cells count; null for all. */
  readonly fields: readonly string[] | null
  readonly verdicts: readonly Verdict[]
}

/** A condition that one of these runs has stored a value of the record. */
export interface RunCondition {
  readonly kind: 'run'
  readonly runs: readonly RunId[]
}

/** A condition on the writers of values: that at least one present value was written by one of them. */
export interface WriterCondition {
  readonly kind: 'writer'
  /** The fields whose values count; null for all. */
  readonly fields: readonly string[] | null
  /** Patterns of actors ({@link matchesGlob}). */
  readonly actors: readonly string[]
  /** Runs, whoever started them. */
  readonly runs: readonly RunId[]
}

/** A condition on the failures of derived cells: that at least one of them is failed now, with a failure of one of the groups. */
export interface FailureCondition {
  readonly kind: 'failure'
  /** The derived fields whose cells count; null for all. */
  readonly fields: readonly string[] | null
  readonly groups: readonly FailureGroupId[]
}

/** A condition on cells beside their values. */
export type CellCondition =
  StateCondition | ReviewCondition | RunCondition | WriterCondition | FailureCondition

/** The members of a field that a condition needs. */
export type ConditionField = Pick<Field, 'name' | 'type'>

/** A value to compare a field, or an item of an array, with. */
export type Operand = string | number | boolean | null

/**
 * The operators with their number of operands. Texts are compared by their code points; `contains`, `notContains` and
 * `startsWith` ignore case ({@link foldCase}), and in arrays and objects search keys, texts and numbers at any depth.
 * Timestamps are compared by their time to the millisecond. `between` includes both ends. In a list, null stands for no
 * value (`anyOf`, `noneOf`) or for the item null (`hasAny`, `hasAll`, `hasNone`).
 */
export const OPERATORS = {
  equals: 'one',
  notEquals: 'one',
  lessThan: 'one',
  atMost: 'one',
  greaterThan: 'one',
  atLeast: 'one',
  between: 'two',
  contains: 'one',
  notContains: 'one',
  startsWith: 'one',
  anyOf: 'list',
  noneOf: 'list',
  hasAny: 'list',
  hasAll: 'list',
  hasNone: 'list',
  empty: 'none',
  notEmpty: 'none',
} as const satisfies Readonly<Record<string, 'none' | 'one' | 'two' | 'list'>>

export type Operator = keyof typeof OPERATORS

/** Returns the conditions on cells that a condition consists of. */
export function cellConditions(condition: Condition): readonly CellCondition[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.flatMap(cellConditions)
    case 'not':
      return cellConditions(condition.condition)
    case 'field':
    case 'search':
      return []
    case 'state':
    case 'review':
    case 'run':
    case 'writer':
    case 'failure':
      return [condition]
  }
}

/** Digits that only the fraction of a second can have, which is not searched beyond the millisecond. */
const LONGER_THAN_YEAR = /\d{5}/

/**
 * Returns the text to look for in the values of a type, as they are in a text of JSON without quotes; null if none can contain it.
 * Numbers are found with or without the separators of thousands, and moments with a space between date and time.
 */
export function searchedText(type: LogicalType, text: string): string | null {
  switch (type) {
    case 'string':
    case 'array':
    case 'object':
      return text
    case 'integer':
    case 'number':
      return /^[-+.,\de]+$/i.test(text) ? text.replaceAll(/,(?=\d{1,3}(?:\D|$))/g, '') : null
    case 'date':
    case 'time':
    case 'timestamp': {
      const written = text.replace(/(?<=\d) (?=\d)/, 'T')
      return /^[-+.:\dTZ]+$/i.test(written) && !LONGER_THAN_YEAR.test(written) ? written : null
    }
    case 'boolean':
      return null
  }
}

/** A text to search for, and the replacements in the searched text, which has ASCII letters in lower case. */
export interface FoldedText {
  readonly text: string
  readonly replaced: readonly { readonly capital: string; readonly small: string }[]
}

/** Whether a text has no letters, so that it is the same in either case. */
export function isCaseless(text: string): boolean {
  return text.toLowerCase() === text.toUpperCase()
}

/** The most letters beyond ASCII in a searched text: an engine nests a call for each. */
export const MAX_FOLDED_LETTERS = 100

/**
 * Folds the case of a text to search for. `lower()` of both databases agrees only on ASCII; other letters of the text are
 * replaced one by one in the searched text. A capital has a small letter only where both are one letter.
 */
export function foldCase(wanted: string): FoldedText {
  const text = [...wanted].map((letter) => simpleLower(letter) ?? letter).join('')
  const others = new Set([...text].filter((letter) => letter > '\u{7f}'))
  const replaced = [...others].flatMap((small) => {
    const capital = small.toUpperCase()
    return capital !== small && simpleLower(capital) === small ? [{ capital, small }] : []
  })
  return { text, replaced }
}

/** Returns the small letter of a capital, where both are one letter; else null. */
function simpleLower(letter: string): string | null {
  const small = letter.toLowerCase()
  return [...letter].length === 1 && [...small].length === 1 ? small : null
}

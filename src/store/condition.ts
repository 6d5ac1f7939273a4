import type { Field } from '../contract/contract.ts'

/**
 * A condition that a record meets or does not meet, as data: each engine compiles it to SQL with bound parameters. It
 * holds or does not hold, and is never unknown: a field without a value meets `empty`, `notEquals`, `notContains`,
 * `noneOf` and `hasNone`, `anyOf` with null in its list, and nothing else.
 */
export type Condition =
  | { readonly kind: 'and' | 'or'; readonly conditions: readonly [Condition, ...Condition[]] }
  | { readonly kind: 'not'; readonly condition: Condition }
  | FieldCondition

/** A condition on the value of one field. */
export interface FieldCondition {
  readonly kind: 'field'
  readonly field: ConditionField
  readonly operator: Operator
  /** What the value is compared with: as many values as the operator takes, each of a type that the field has. */
  readonly operands: readonly Operand[]
}

/** As much of a field as a condition needs. */
export type ConditionField = Pick<Field, 'name' | 'type'>

/** A value that a field, or an item of an array, is compared with. */
export type Operand = string | number | boolean | null

/**
 * The operators with what each takes. Texts are equal and ordered by their code points; `contains`, `notContains` and
 * `startsWith` ignore case ({@link foldCase}), and on arrays and objects search their keys, texts and numbers, however
 * deep. Timestamps are compared by their moment, to the millisecond. `between` includes both ends. In a list, null
 * stands for no value (`anyOf`, `noneOf`) or for the item null (`hasAny`, `hasAll`, `hasNone`).
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

/** A text to search for, and what is to be replaced in the searched text, which has ASCII letters in lower case. */
export interface FoldedText {
  readonly text: string
  readonly replaced: readonly { readonly capital: string; readonly small: string }[]
}

/** Letters beyond ASCII that a searched text can have: an engine nests a call for each. */
export const MAX_FOLDED_LETTERS = 100

/**
 * Folds the case of a text to search for. The databases' `lower()` knows ASCII only, and agrees on that; of other letters,
 * those that are searched for are replaced one by one. A letter counts as the small one of a capital where that is one
 * letter for one letter.
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

/** The small letter of a capital, where that is one letter for another. */
function simpleLower(letter: string): string | null {
  const small = letter.toLowerCase()
  return [...letter].length === 1 && [...small].length === 1 ? small : null
}

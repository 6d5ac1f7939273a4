import { Type } from 'typebox'
import { DIALECT } from './dialect.ts'
import { inDocument, NOT_BLANK } from './openapi-keywords.ts'
import { Condition as ConditionObject } from './names.ts'

/** The operators of a {@link Condition} on a field; each fits some types of fields. */
const OPERATORS = [
  'equals',
  'not_equals',
  'less_than',
  'at_most',
  'greater_than',
  'at_least',
  'between',
  'contains',
  'not_contains',
  'starts_with',
  'any_of',
  'none_of',
  'has_any',
  'has_all',
  'has_none',
  'empty',
  'not_empty',
] as const

export type ConditionOperator = (typeof OPERATORS)[number]

/** The states of derived cells that a {@link Condition} can name. */
const STATES = ['fresh', 'stale', 'missing', 'failed', 'overridden', 'blocked'] as const

export type CellFilterState = (typeof STATES)[number]

/** The verdicts of reviews that a {@link Condition} can name. */
export type CellVerdict = 'approved' | 'flagged'

/** A value that a field, or an item of an array, is compared with. */
export type ConditionValue = string | number | boolean | null

/** A condition on records as data, which every engine compiles: the JSON text `where`. */
export type Condition =
  | {
      readonly field: string
      readonly operator: ConditionOperator
      /** One value; two for `between`; an array for an operator with a list; absent for `empty` and `not_empty`. */
      readonly value?: ConditionValue | readonly ConditionValue[]
    }
  /** That a field, one of these if any are named, contains a text. */
  | { readonly search: string; readonly fields?: readonly string[] }
  /** That a derived cell, of one of the fields if any are named, is in one of the states. */
  | { readonly state: readonly CellFilterState[]; readonly fields?: readonly string[] }
  /** That a cell, of one of the fields if any are named, has a review in force with one of the verdicts. */
  | { readonly review: readonly CellVerdict[]; readonly fields?: readonly string[] }
  /** That a derived cell, of one of the fields if any are named, is failed, with a failure of one of these groups. */
  | { readonly failure: readonly string[]; readonly fields?: readonly string[] }
  /** That one of these runs has stored a value of the record. */
  | { readonly run: readonly string[] }
  /** That an actor, or pattern of actors, has written a present value, of one of the fields if any are named. */
  | { readonly by: readonly string[]; readonly fields?: readonly string[] }
  /** The same of runs. */
  | { readonly by_run: readonly string[]; readonly fields?: readonly string[] }
  | { readonly and: readonly Condition[] }
  | { readonly or: readonly Condition[] }
  | { readonly not: Condition }

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ')
}

/** The parameter `where` of routes that list, count or export records. */
export const whereParameter = Type.String({
  description:
    'A condition as JSON: `{"field": …, "operator": …, "value": …}`, a text in any field `{"search": …, "fields": […]}`, a condition on the states of derived cells `{"state": […], "fields": […]}` or their failures `{"failure": […], "fields": […]}` (ids of `GET /api/failures`), on reviews `{"review": ["approved", "flagged"], "fields": […]}`, on runs that have stored a value of the record `{"run": ["12"]}`, on the actors or runs that have written present values `{"by": ["agent:*"], "fields": […]}`, `{"by_run": ["12"]}`, or a group `{"and": […]}`, `{"or": […]}`, `{"not": …}`. ' +
    `Operators (the type of the field decides which apply): ${listed(OPERATORS)}. States: ${listed(STATES)}; without \`fields\`, of any field. With \`filter\`, both must hold.`,
  contentMediaType: 'application/json',
  contentSchema: ConditionObject,
  ...inDocument({ exampleOf: 'where' }),
})

/** The parameter `filter` of these routes. */
export const filterParameter = Type.String({
  description: `A boolean SQL expression (${DIALECT}) over the fields.`,
  ...inDocument({ pattern: NOT_BLANK, exampleOf: 'filter' }),
})

import type { JsonObject } from './json/json.ts'

/** The `logicalType` of a property (D6). */
export const LOGICAL_TYPES = [
  'string',
  'integer',
  'number',
  'boolean',
  'date',
  'timestamp',
  'time',
  'array',
  'object',
] as const

export type LogicalType = (typeof LOGICAL_TYPES)[number]

/** What the contract holds against a value, at any depth (D6). */
export interface ValueRule {
  /** Null below the top level when the contract leaves the type open: any JSON value goes. */
  readonly type: LogicalType | null
  /** Whether null is a fault; for a property of an object also its absence. */
  readonly required: boolean
  /**
   * `logicalTypeOptions` as the contract has them, with defaults left out. Exclusive bounds are always values:
   * the `exclusiveMaximum: true` of ODCS v3.0 has become one.
   */
  readonly options: JsonObject
  /** The closed list of values (`quality` rule `invalidValues`), or null when any value goes (D6). */
  readonly validValues: readonly (string | number | boolean)[] | null
  /** The rule for each item of an array; absent when the contract has none. */
  readonly items?: ValueRule
  /** The rules for properties of an object; absent when the contract has none. Other properties are free. */
  readonly properties?: readonly PropertyRule[]
}

/** The rule for one property of an object. */
export interface PropertyRule extends ValueRule {
  readonly name: string
}

/** One field of the sheet: a property of the contract's only schema entry. */
export interface Field extends PropertyRule {
  readonly type: LogicalType
  /** True for `id` (D5). */
  readonly primaryKey: boolean
  readonly unique: boolean
  /** Whether the store keeps an index of its values, so that finding and sorting by them need not look at every record. */
  readonly indexed: boolean
  /** Patterns of the actors who may write the field by hand, or null when the contract names none (D7). */
  readonly editableBy: readonly string[] | null
  /** What the contract itself says of derivation (`x-derived`, `x-inputs`); must agree with the derivations (D7). */
  readonly declaredDerived: boolean | null
  readonly declaredInputs: readonly string[] | null
}

/** A validated contract. Immutable; a changed file makes a new one. */
export interface Contract {
  /** The document with defaults filled in, as `GET /api/contract` returns it but for `derived` (D8). */
  readonly document: JsonObject
  /** In the contract's order; every field of every record. */
  readonly fields: readonly Field[]
  readonly fieldByName: ReadonlyMap<string, Field>
  /** Patterns of the actors who may delete records, or null when everybody may (D7). */
  readonly deletableBy: readonly string[] | null
  /** The text it was parsed from. */
  readonly text: string
}

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

/** The rule for a value, at any depth (D6). */
export interface ValueRule {
  /** The type; null below the top level if the contract leaves it open, so that any JSON value is valid. */
  readonly type: LogicalType | null
  /** Whether null is refused, and for a property of an object its absence. */
  readonly required: boolean
  /**
   * The `logicalTypeOptions` of the contract without defaults. Exclusive bounds are always values; the
   * `exclusiveMaximum: true` of ODCS v3.0 is converted.
   */
  readonly options: JsonObject
  /** The values of the closed list (`quality` rule `invalidValues`), or null for no list (D6). */
  readonly validValues: readonly (string | number | boolean)[] | null
  /** The rule for the items of an array; absent if the contract has none. */
  readonly items?: ValueRule
  /** The rules for the properties of an object; absent if the contract has none. Other properties are allowed. */
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
  /** Whether the store keeps an index of its values for searching and sorting. */
  readonly indexed: boolean
  /** The patterns of actors who may write the field by hand, or null if the contract has none (D7). */
  readonly editableBy: readonly string[] | null
  /** The declared derivation (`x-derived`, `x-inputs`), which must match the derivation files (D7). */
  readonly declaredDerived: boolean | null
  readonly declaredInputs: readonly string[] | null
}

/** A validated, immutable contract. A changed file is parsed to a new one. */
export interface Contract {
  /** The document with defaults, as `GET /api/contract` returns it without `derived` (D8). */
  readonly document: JsonObject
  /** The fields in the order of the contract; every record has all of them. */
  readonly fields: readonly Field[]
  readonly fieldByName: ReadonlyMap<string, Field>
  /** The patterns of actors who may delete records, or null if everybody may (D7). */
  readonly deletableBy: readonly string[] | null
  /** The source text. */
  readonly text: string
}

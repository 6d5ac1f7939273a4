import type { LogicalType } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'

/** The custom property of a field with its name in folio, if that is another one. */
export const FOLIO_NAME = 'folioName'

/** The custom property of a field with its type in folio, if that is another one. */
export const FOLIO_TYPE = 'folioType'

/** The custom property of a field with the list of values that folio has, if the contract's is another one. */
export const FOLIO_ENUM = 'folioEnum'

/** The custom property of an ordinary field that was derived in folio: the inputs of its derivation, by their names in folio. */
export const FOLIO_INPUTS = 'folioInputs'

/** The custom property of a contract with keys of the folio contract that ODCS does not have. */
export const FOLIO_KEYS = 'folioKeys'

/** The custom property of a field that is required in folio, and not here. */
export const FOLIO_REQUIRED = 'folioRequired'

/** The custom property of a field that the contract of folio does not have: `undeclared`, or `id` for the field of original ids. */
export const FOLIO_ORIGIN = 'folioOrigin'

/** The description of the field of original ids. */
export const ORIGINAL_ID_DESCRIPTION = 'The id in folio, where it is another one.'

/** A field of the new sheet, and the property of the folio contract from which it comes. */
export interface FolioField {
  /** The name in folio. */
  readonly folio: string
  /** The name in the new sheet. */
  readonly name: string
  readonly type: LogicalType
  /** Whether it is the primary key, which is `id`. */
  readonly isKey: boolean
  /** Whether the folio contract has it; other fields occur in records only. */
  readonly isDeclared: boolean
  readonly isRequired: boolean
  /** The list of values; null for none. */
  readonly validValues: readonly string[] | null
  /** `x-derived` of the folio contract. */
  readonly declaredDerived: boolean
  readonly declaredInputs: readonly JsonValue[] | null
  /** Whether the folio contract has `x-editable-by`. */
  readonly hasEditors: boolean
  /** The line of the property in the folio contract. */
  readonly line: number | null
  /** The property as it is written, without `required`, `quality`, `x-derived` and `x-inputs`. */
  readonly property: JsonObject
}

/** Adds a custom property to a part of a contract. */
export function withCustom(part: JsonObject, name: string, value: JsonValue): JsonObject {
  const known = part['customProperties']
  const others = Array.isArray(known) ? (known as readonly JsonValue[]) : []
  return { ...part, customProperties: [...others, { property: name, value }] }
}

import { Type } from 'typebox'

/*
 * Names in requests. Here they are any text, which use cases look up; the OpenAPI document of a sheet has those that there are.
 */

/** A field of the contract. */
export const FieldName = Type.String()
/** A field that a derivation computes. */
export const TargetName = Type.String()
/** A field to sort by, with a minus from the greatest value down. */
export const SortKey = Type.String()
/** A time, ISO 8601 with offset. */
export const Timestamp = Type.String({ format: 'date-time' })
/** A derivation file. */
export const DerivationFile = Type.String()
/** A condition on records. */
export const Condition = Type.Object({})

import { Type } from 'typebox'

/*
 * Names in requests. Operations look them up; the OpenAPI document of a sheet replaces these schemas by lists of its names.
 */

/** A field of the contract. */
export const FieldName = Type.String()
/** A field that a derivation computes. */
export const TargetName = Type.String()
/** A field to sort by, with a leading minus for descending order. */
export const SortKey = Type.String()
/** A time, ISO 8601 with offset. */
export const Timestamp = Type.String({ format: 'date-time' })
/** A derivation file. */
export const DerivationFile = Type.String()
/** A condition on records. */
export const Condition = Type.Object({})

import type { Condition } from '../../../src/wire/schema/conditions.ts'

declare const isFilter: unique symbol

/**
 * A filter of records as JSON text, so that equal filters are equal strings. Made by {@link recordFilter}, read by
 * {@link filterParameters}.
 */
export type RecordFilter = string & { readonly [isFilter]: true }

interface FilterParameters {
  readonly where?: Condition
  /** An SQL condition from the user, combined with `where` by AND. */
  readonly filter?: string
}

/** Returns the filter of a condition and of SQL; null for all records. */
export function recordFilter({
  where,
  sql,
}: {
  readonly where: Condition | null
  readonly sql: string | null
}): RecordFilter | null {
  const written = sql === null || sql.trim() === '' ? null : sql
  if (where === null && written === null) return null
  const parameters: FilterParameters = {
    ...(where === null ? {} : { where }),
    ...(written === null ? {} : { filter: written }),
  }
  return JSON.stringify(parameters) as RecordFilter
}

/** Returns the request parameters of a filter. */
export function filterParameters(filter: RecordFilter | null): FilterParameters {
  return filter === null ? {} : (JSON.parse(filter) as FilterParameters)
}

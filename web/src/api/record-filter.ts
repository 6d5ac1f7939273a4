import type { Condition } from '../../../src/wire/schema/conditions.ts'

declare const isFilter: unique symbol

/**
 * What records are filtered by: JSON of what the server takes, so that two filters are the same where their texts are. It is
 * made by {@link recordFilter} and read by {@link filterParameters}.
 */
export type RecordFilter = string & { readonly [isFilter]: true }

interface FilterParameters {
  /** As data. */
  readonly where?: Condition
  /** SQL that somebody wrote; beside a condition, both must hold. */
  readonly filter?: string
}

/** The filter of a condition and of SQL; null for all records. */
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

/** What is sent to the server for a filter. */
export function filterParameters(filter: RecordFilter | null): FilterParameters {
  return filter === null ? {} : (JSON.parse(filter) as FilterParameters)
}

import type { JsonBytes, Summary } from '../../store/sheet-store.ts'
import { conditionedSheet } from './conditioned-sheet.ts'
import { searchText } from './read-condition.ts'
import { selectFields } from './select-fields.ts'
import type { Sheet } from '../sheet.ts'

export interface SummarizeQuery {
  /** The fields to summarize; null counts only. */
  readonly fields: readonly string[] | null
  /** A boolean SQL expression over the fields (D16); null for all records. */
  readonly filter: string | null
  /** A condition as data, as in `listRecords`; null for all records. */
  readonly where?: string | null
  /** A text that the listed values of each field contain; null lists the most frequent values. */
  readonly search?: string | null
}

/**
 * Counts the records that match a filter and summarizes their values in some fields, as the JSON text of a Summary.
 * Throws ValidationError for an unknown field, a bad condition or search text, QueryError for a bad filter and beyond
 * the limits of queries (D19). When `signal` aborts, stops the work and throws its reason.
 */
export async function summarizeRecords(
  sheet: Sheet,
  { fields, filter, where = null, search = null }: SummarizeQuery,
  signal?: AbortSignal,
): Promise<JsonBytes> {
  const text = searchText(search)
  const { contract, store, where: condition } = await conditionedSheet(sheet, where)
  if (filter === null && where === null && fields === null) {
    // From the counters, without a query: viewers ask for the count all the time.
    const { total } = await store.status()
    return Buffer.from(JSON.stringify({ count: total, fields: {} } satisfies Summary))
  }
  return store.summary(
    { fields: selectFields(contract, fields ?? []), filter, where: condition, search: text },
    signal,
  )
}

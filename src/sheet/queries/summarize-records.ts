import type { JsonBytes, Summary } from '../../store/sheet-store.ts'
import { readCondition, searchText } from './read-condition.ts'
import { selectFields } from './select-fields.ts'
import type { Sheet } from '../sheet.ts'

export interface SummarizeQuery {
  /** The fields to summarize; null for none, which leaves the count. */
  readonly fields: readonly string[] | null
  /** A boolean SQL expression over the fields (D16); null for all records. */
  readonly filter: string | null
  /** A condition as data, as in `listRecords`; null for all records. */
  readonly where?: string | null
  /** A text that the values listed of each field have in them; null for the most frequent values. */
  readonly search?: string | null
}

/**
 * How many records a filter lets through, and what they have in some fields, as JSON text of a Summary. Throws
 * ValidationError for an unknown field, a bad condition or text to search, QueryError for a bad filter and for what goes past the limits of queries (D19),
 * and the signal's reason once it aborts: then the work is stopped.
 */
export async function summarizeRecords(
  sheet: Sheet,
  { fields, filter, where = null, search = null }: SummarizeQuery,
  signal?: AbortSignal,
): Promise<JsonBytes> {
  const text = searchText(search)
  const { contract, store } = await sheet.current()
  if (filter === null && where === null && fields === null) {
    // From the counters: viewers ask for it all the time, and it has no need to wait for its turn among queries.
    const { total } = await store.status()
    return Buffer.from(JSON.stringify({ count: total, fields: {} } satisfies Summary))
  }
  const condition = readCondition(contract, where)
  return store.summary(
    { fields: selectFields(contract, fields ?? []), filter, where: condition, search: text },
    signal,
  )
}

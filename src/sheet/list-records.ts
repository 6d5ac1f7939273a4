import { OperationError } from '../errors/service-error.ts'
import type { JsonBytes, RecordKey, SheetStore } from '../store/sheet-store.ts'
import { resolveAsOf } from './as-of.ts'
import { openCursor, sealCursor } from './cursor.ts'
import { pageLimit } from './page-limit.ts'
import { selectFields } from './select-fields.ts'
import type { Sheet } from './sheet.ts'

export interface ListRecordsQuery {
  readonly fields: readonly string[] | null
  /** Any integer above 0; more than 10,000 is lowered to that (D10). Null is 50. */
  readonly limit: number | null
  readonly cursor: string | null
  /** A boolean SQL expression over the fields (D16). */
  readonly filter: string | null
  /** A seq or a time: the records as they were then. Null is now. */
  readonly asOf: string | null
}

export interface RecordList {
  /** A JSON array of records. */
  readonly records: JsonBytes
  readonly limit: number
  /** Null exactly when nothing follows (D11). */
  readonly nextCursor: string | null
}

/**
 * A page of records in creation order (D10, D11, D12). Throws ValidationError for a bad limit, cursor or field,
 * QueryError for a bad filter, OperationError for a filter over the past, and what {@link resolveAsOf} throws.
 */
export async function listRecords(sheet: Sheet, query: ListRecordsQuery): Promise<RecordList> {
  const { filter, asOf, cursor } = query
  const limit = pageLimit(query.limit)
  if (asOf !== null) return listRecordsAsOf(sheet, { ...query, limit, asOf })
  const { contract, store } = await sheet.current()
  const fields = selectFields(contract, query.fields)
  const scope = filter === null ? 'all' : `filter ${filter}`
  const after = cursor === null ? null : openCursor(store.cursorKey, cursor, scope)
  const { records, next } = await store.page({ fields, limit, after, filter })
  return { records, limit, nextCursor: next === null ? null : sealCursor(store.cursorKey, next, scope) }
}

interface PastListQuery extends ListRecordsQuery {
  readonly limit: number
  readonly asOf: string
}

async function listRecordsAsOf(sheet: Sheet, query: PastListQuery): Promise<RecordList> {
  const { limit, asOf } = query
  if (query.filter !== null) {
    throw new OperationError('filter and as_of do not go together: only records of today can be filtered')
  }
  const { contract, store } = await sheet.current()
  const fields = selectFields(contract, query.fields)
  const { seq, after } = await startOf(store, query)
  const { records, next } = await store.pageAsOf({ fields, limit, after, seq })
  if (next === null) return { records, limit, nextCursor: null }
  return { records, limit, nextCursor: `${seq}.${sealCursor(store.cursorKey, next, pastScope(asOf, seq))}` }
}

/**
 * Where a page over the past starts. Cursors carry the seq that `as_of` was found to mean, so that all pages are of one
 * state: an entry has the time when its transaction began, so that a time just past may come to mean a later entry.
 */
async function startOf(
  store: SheetStore,
  { asOf, cursor }: PastListQuery,
): Promise<{ readonly seq: number; readonly after: RecordKey | null }> {
  if (cursor === null) return { seq: await resolveAsOf(store, asOf), after: null }
  const [, digits = '', sealed = cursor] = /^(\d{1,15})\.(.*)$/s.exec(cursor) ?? []
  return { seq: Number(digits), after: openCursor(store.cursorKey, sealed, pastScope(asOf, digits)) }
}

function pastScope(asOf: string, seq: number | string): string {
  return `as_of ${seq} ${asOf}`
}

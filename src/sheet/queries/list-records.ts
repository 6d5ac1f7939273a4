import { ValidationError } from '../../errors/service-error.ts'
import type { RecordKey } from '../../store/cell-work.ts'
import type { JsonBytes, PagePlace, PastPage, SheetStore, SortKey } from '../../store/sheet-store.ts'
import { refuseInPast, resolveAsOf } from './as-of.ts'
import { openCursor, openPlace, signCursor, signPlace } from '../cursor.ts'
import { pageLimit } from '../page-limit.ts'
import { conditionedSheet } from './conditioned-sheet.ts'
import { selectFields, selectPastFields } from './select-fields.ts'
import type { Sheet } from '../sheet.ts'
import { sortKeys } from './sort-keys.ts'

export interface ListRecordsQuery {
  readonly fields: readonly string[] | null
  /** The page size, from 1; more than 10,000 is lowered to that (D10). Null is 50. */
  readonly limit: number | null
  readonly cursor: string | null
  /** A boolean SQL expression over the fields (D16). */
  readonly filter: string | null
  /** A condition as JSON text, see {@link conditionedSheet}; a record must match it and the filter. */
  readonly where: string | null
  /** A seq or a time: lists the records as they were then. Null is now. */
  readonly asOf: string | null
  /** Fields to sort by, with a minus for descending; null is creation order. */
  readonly sort: readonly string[] | null
  /** The number of records before the page, instead of a cursor; null starts at the first record or the cursor. */
  readonly position: number | null
  /** With `asOf`, whether the list has `changed`. */
  readonly changed: boolean
}

const NOTHING_ASKED: ListRecordsQuery = {
  fields: null,
  limit: null,
  cursor: null,
  filter: null,
  where: null,
  asOf: null,
  sort: null,
  position: null,
  changed: false,
}

export interface RecordList {
  /** A JSON array of records. */
  readonly records: JsonBytes
  readonly limit: number
  /** Null exactly when nothing follows (D11). */
  readonly nextCursor: string | null
  /** For each record the fields that have another value now; null for a record that was deleted since. */
  readonly changed?: PastPage['changed']
}

/**
 * Lists a page of records (D10, D11, D12). Throws ValidationError for a bad limit, cursor, position, field or
 * condition, QueryError for a bad filter, OperationError for a filter or an order in the past, and what {@link
 * resolveAsOf} throws. When `signal` aborts during a search, stops the search and throws its reason.
 */
export async function listRecords(
  sheet: Sheet,
  asked: Partial<ListRecordsQuery>,
  signal?: AbortSignal,
): Promise<RecordList> {
  const query = { ...NOTHING_ASKED, ...asked }
  const { filter, asOf, cursor } = query
  const limit = pageLimit(query.limit)
  checkPosition(query)
  if (query.changed && asOf === null)
    throw new ValidationError('changed requires as_of', 'conflicting_parameters')
  if (asOf !== null) return listRecordsAsOf(sheet, { ...query, limit, asOf })
  const { contract, store, where } = await conditionedSheet(sheet, query.where)
  const fields = selectFields(contract, query.fields)
  const sort = sortKeys(contract, query.sort)
  const scope = scopeOf(query, sort)
  const after = cursor === null ? null : openPlace(store.cursorKey, cursor, scope)
  const skip = query.position ?? 0
  const { records, next } = await store.page({ fields, limit, after, filter, where, sort, skip }, signal)
  return { records, limit, nextCursor: next === null ? null : cursorAfter(records, store, { next, scope }) }
}

/** Cursors of pages that the store caches, so that each is signed once. */
const CURSORS = new WeakMap<JsonBytes, { readonly scope: string; readonly cursor: string }>()

/** Returns the cursor of the page that follows this one of the list `scope`. */
function cursorAfter(
  records: JsonBytes,
  store: SheetStore,
  { next, scope }: { readonly next: PagePlace; readonly scope: string },
): string {
  const known = CURSORS.get(records)
  if (known?.scope === scope) return known.cursor
  const cursor = signPlace(store.cursorKey, next, scope)
  CURSORS.set(records, { scope, cursor })
  return cursor
}

/** Identifies the list that a cursor belongs to. */
function scopeOf(
  { filter, where }: Pick<ListRecordsQuery, 'filter' | 'where'>,
  sort: readonly SortKey[],
): string {
  const order = sort.map(({ field, descending }) => `${descending ? '-' : ''}${field}`).join()
  const filtered = filter === null ? 'all' : `filter ${filter}`
  // JSON delimits the text: no filter can be read as another filter with a condition appended.
  const records = where === null ? filtered : `where ${JSON.stringify(where)} ${filtered}`
  // The older scope `sort` was of an order in which equal records came in creation order for both directions.
  return order === '' ? records : `order ${order} ${records}`
}

function checkPosition({ position, cursor }: ListRecordsQuery): void {
  if (position === null) return
  if (!Number.isSafeInteger(position) || position < 0) {
    throw new ValidationError(`position must be an integer of at least 0, got ${position}`, 'out_of_range')
  }
  if (cursor !== null)
    throw new ValidationError(
      'position and cursor cannot be combined; send one of them',
      'conflicting_parameters',
    )
}

interface PastListQuery extends ListRecordsQuery {
  readonly limit: number
  readonly asOf: string
}

async function listRecordsAsOf(sheet: Sheet, query: PastListQuery): Promise<RecordList> {
  const { limit, asOf, changed } = query
  const { filter, where, sort } = query
  refuseInPast({ filter, where, sort })
  const current = await sheet.current()
  const { store } = current
  const fields = await selectPastFields(current, query.fields)
  const { seq, after } = await startOf(store, query)
  const skip = query.position ?? 0
  const { next, ...page } = await store.pageAsOf({ fields, limit, after, skip, seq, changed })
  if (next === null) return { ...page, limit, nextCursor: null }
  return { ...page, limit, nextCursor: `${seq}.${signCursor(store.cursorKey, next, pastScope(asOf, seq))}` }
}

/**
 * Returns where a page of past records starts. Cursors contain the seq that `as_of` was resolved to, so that all pages
 * show one state: an entry has the time at which its transaction began, so that a recent time may later resolve to a
 * later entry.
 */
async function startOf(
  store: SheetStore,
  { asOf, cursor }: PastListQuery,
): Promise<{ readonly seq: number; readonly after: RecordKey | null }> {
  if (cursor === null) return { seq: await resolveAsOf(store, asOf), after: null }
  const [, digits = '', signed = cursor] = /^(\d{1,15})\.(.*)$/s.exec(cursor) ?? []
  return { seq: Number(digits), after: openCursor(store.cursorKey, signed, pastScope(asOf, digits)) }
}

function pastScope(asOf: string, seq: number | string): string {
  return `as_of ${seq} ${asOf}`
}

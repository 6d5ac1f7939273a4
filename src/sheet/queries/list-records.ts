import { ValidationError } from '../../errors/service-error.ts'
import type { RecordKey } from '../../store/cell-work.ts'
import { PAGE_BYTES } from '../../store/page-bytes.ts'
import { jsonArray } from '../../store/rows/past-values.ts'
import type { JsonBytes, PagePlace, PastPage, SheetStore, SortKey } from '../../store/sheet-store.ts'
import { refuseInPast, resolveAsOf } from './as-of.ts'
import { openCursor, openPlace, signCursor, signPlace } from '../cursor.ts'
import { pageLimit } from '../page-limit.ts'
import { pastListOf, pastOrder } from './past-order.ts'
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
  /** The number of records of the list, where that is a sorted or filtered one of an earlier state. */
  readonly total?: number
}

/**
 * Lists a page of records (D10, D11, D12). Throws ValidationError for a bad limit, cursor, position, field or
 * condition, QueryError for a bad filter, OperationError for a filter in the past, and what {@link pastListOf} and {@link
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
  if (asOf !== null) return listRecordsAsOf(sheet, { ...query, limit, asOf }, signal)
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

async function listRecordsAsOf(
  sheet: Sheet,
  query: PastListQuery,
  signal?: AbortSignal,
): Promise<RecordList> {
  const { asOf, changed, filter } = query
  refuseInPast({ filter })
  const current = await sheet.current()
  const { store, contract } = current
  const fields = await selectPastFields(current, query.fields)
  const list = pastListOf(contract, query)
  const scope = scopeOf(query, list.sort)
  const { seq, after } = await startOf(store, query, scope)
  const cursorOf = (next: number | null): string | null =>
    next === null ? null : `${seq}.${signCursor(store.cursorKey, next, pastScope(asOf, seq, scope))}`
  const skip = query.position ?? 0
  const order = await pastOrder(current, { seq, ...list }, signal)
  if (order === null) {
    const { limit } = query
    const { next, ...page } = await store.pageAsOf({ fields, limit, after, skip, seq, changed })
    return { ...page, limit, nextCursor: cursorOf(next) }
  }
  const limit = Math.min(query.limit, MOST_ORDERED)
  const start = after ?? skip
  const wanted = order.subarray(start, start + limit)
  const { count, ...page } = await recordsAt(store, wanted, { fields, seq, changed })
  const next = start + count
  const { length: total } = order
  return { ...page, limit, nextCursor: cursorOf(next < total ? next : null), total }
}

/** The most records on a page of an earlier state that is sorted or filtered, since each is read by itself. */
const MOST_ORDERED = 1000
/** Records of such a page that are read together. */
const RECORDS_AT_ONCE = 16

interface PastRecords extends Pick<RecordList, 'records' | 'changed'> {
  readonly count: number
}

/** Returns records of an earlier state by their positions in creation order, as far as they fit into a page. */
async function recordsAt(
  store: SheetStore,
  positions: Uint32Array,
  query: { readonly fields: readonly string[]; readonly seq: number; readonly changed: boolean },
): Promise<PastRecords> {
  const records: JsonBytes[] = []
  const changed: (readonly string[] | null)[] = []
  let bytes = 0
  const toPage = (): PastRecords => ({
    records: jsonArray(records),
    count: records.length,
    ...(query.changed && { changed }),
  })
  for (let from = 0; from < positions.length; from += RECORDS_AT_ONCE) {
    const some = [...positions.subarray(from, from + RECORDS_AT_ONCE)]
    const pages = await Promise.all(
      some.map((skip) => store.pageAsOf({ ...query, skip, limit: 1, after: null })),
    )
    for (const page of pages) {
      bytes += page.records.length
      if (records.length > 0 && bytes > PAGE_BYTES) return toPage()
      // Without the brackets of an array with one record.
      records.push(page.records.subarray(1, -1))
      changed.push(page.changed?.[0] ?? (page.changed === undefined ? [] : null))
    }
  }
  return toPage()
}

/**
 * Returns where a page of past records starts: a key, or in a sorted or filtered list a position. Cursors contain the seq that `as_of` was resolved to, so that all pages
 * show one state: an entry has the time at which its transaction began, so that a recent time may later resolve to a
 * later entry.
 */
async function startOf(
  store: SheetStore,
  { asOf, cursor }: PastListQuery,
  scope: string,
): Promise<{ readonly seq: number; readonly after: RecordKey | null }> {
  if (cursor === null) return { seq: await resolveAsOf(store, asOf), after: null }
  const [, digits = '', signed = cursor] = /^(\d{1,15})\.(.*)$/s.exec(cursor) ?? []
  return { seq: Number(digits), after: openCursor(store.cursorKey, signed, pastScope(asOf, digits, scope)) }
}

function pastScope(asOf: string, seq: number | string, scope: string): string {
  const moment = `as_of ${seq} ${asOf}`
  return scope === 'all' ? moment : `${scope} ${moment}`
}

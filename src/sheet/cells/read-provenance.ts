import type { JsonObject } from '../../contract/json/json.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { SheetError } from '../../errors/service-error.ts'
import type { EntryPlace } from '../../store/cell-entries.ts'
import type { SheetStore } from '../../store/sheet-store.ts'
import { openPlace, signPlace } from '../cursor.ts'
import { pageLimit } from '../page-limit.ts'
import { resolveAsOf } from '../queries/as-of.ts'
import { presentName } from '../queries/select-fields.ts'
import type { Sheet } from '../sheet.ts'

export interface ProvenanceQuery {
  readonly recordId: string
  readonly field: string
  /** A seq or a time: only entries up to then count. Null or absent is now. */
  readonly asOf?: string | null
}

/** The cells whose entries are read: one, or those of a record. */
export interface EntriesSelection extends Omit<ProvenanceQuery, 'field'> {
  /** Null for all fields. */
  readonly field: string | null
}

export interface HistoryQuery extends EntriesSelection {
  /** Entries on the page; null is {@link HISTORY_LIMIT}, more than 10,000 is lowered to that. */
  readonly limit: number | null
  /** The `nextCursor` of a page of the same history; null starts at the first entry. */
  readonly cursor: string | null
}

/** A page of the history of a cell or a record. */
export interface History {
  /** The oldest first. */
  readonly entries: readonly JsonObject[]
  /** Null exactly when nothing follows. */
  readonly nextCursor: string | null
}

/** The default page size of a history, which most histories fit into. */
export const HISTORY_LIMIT = 1000

/** The latest entries of a cell. */
export interface LatestHistory {
  /** The newest first. */
  readonly entries: readonly JsonObject[]
  /** Whether earlier entries exist. */
  readonly hasMore: boolean
}

/**
 * Reads where the value of a cell came from: its latest provenance entry or null (D35). Throws ValidationError for an unknown
 * field, SheetError for a record that never existed, and what {@link resolveAsOf} throws.
 */
export async function readProvenance(
  sheet: Sheet,
  { recordId, field: name, asOf = null }: ProvenanceQuery,
): Promise<JsonObject | null> {
  const { store, field } = await storeWith(sheet, name)
  if (asOf !== null) {
    const seq = await resolveAsOf(store, asOf)
    return ((await store.provenanceBefore(recordId, field, seq + 1)) ?? neverExisted(recordId)).entry
  }
  const { entries } = (await store.provenance(recordId, field, 1)) ?? neverExisted(recordId)
  return entries[0] ?? null
}

/**
 * Reads the latest entries of a cell: at most `limit`, and fewer where they are long. Throws as {@link readProvenance} does.
 */
export async function readLatestHistory(
  sheet: Sheet,
  { recordId, field: name }: ProvenanceQuery,
  limit: number,
): Promise<LatestHistory> {
  const { store, field } = await storeWith(sheet, name)
  // One more than asked for shows whether there are earlier ones.
  const { entries, isCut } = (await store.provenance(recordId, field, limit + 1)) ?? neverExisted(recordId)
  return { entries: entries.slice(0, limit), hasMore: isCut || entries.length > limit }
}

/**
 * Reads a page of all entries of a cell or a record, those from before a deletion included (D35). A page has fewer than `limit`
 * where they are long, and of a record more where one line has more. Throws as {@link readProvenance} does, and ValidationError for a bad limit or cursor.
 */
export async function readHistory(
  sheet: Sheet,
  { recordId, field: name, asOf = null, limit, cursor }: HistoryQuery,
): Promise<History> {
  const most = pageLimit(limit, HISTORY_LIMIT)
  const { store, field } =
    name === null ? { store: (await sheet.current()).store, field: null } : await storeWith(sheet, name)
  const scope = `history ${JSON.stringify([recordId, field])}`
  const from = cursor === null ? null : placeOf(openPlace(store.cursorKey, cursor, scope))
  const upTo = asOf === null ? {} : { upTo: await resolveAsOf(store, asOf) }
  const found = await store.entries({ recordId, field, from, limit: most, ...upTo })
  const { entries, next } = found ?? neverExisted(recordId)
  if (next === null) return { entries, nextCursor: null }
  const place = { key: next.life ?? BEFORE_STORE, values: [next.seq] }
  return { entries, nextCursor: signPlace(store.cursorKey, place, scope) }
}

/** Reads the whole history of a cell or a record, page by page. Throws as {@link readHistory} does. */
export async function* historyPages(
  sheet: Sheet,
  query: EntriesSelection,
): AsyncGenerator<readonly JsonObject[], void> {
  for (let cursor: string | null = null; ;) {
    const page: History = await readHistory(sheet, { ...query, limit: null, cursor })
    yield page.entries
    if (page.nextCursor === null) return
    cursor = page.nextCursor
  }
}

/** The life of a record, in cursors, for log entries from before the store. No record has this key. */
const BEFORE_STORE = 0

function placeOf({ key, values }: ReturnType<typeof openPlace>): EntryPlace {
  return { life: key === BEFORE_STORE ? null : key, seq: Number(values[0]) }
}

/** Returns the store, and the present name of a field, given that or one that it had before. */
async function storeWith(
  sheet: Sheet,
  name: string,
): Promise<{ readonly store: SheetStore; readonly field: string }> {
  const current = await sheet.current()
  return { store: current.store, field: await presentName(current, name) }
}

function neverExisted(recordId: string): never {
  throw new SheetError(`no record ${showValue(recordId)} has ever existed`, 'unknown_record')
}

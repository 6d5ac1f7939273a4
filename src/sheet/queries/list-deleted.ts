import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DeletedRef, Deletion, SheetStore } from '../../store/sheet-store.ts'
import { openCursor, signCursor } from '../cursor.ts'
import { pageLimit } from '../page-limit.ts'
import type { Sheet } from '../sheet.ts'

export interface DeletedQuery {
  /** The page size; null is 50, more than 1,000 is lowered to that. */
  readonly limit: number | null
  readonly cursor: string | null
}

/** A deleted record, with the values that it had. */
export interface DeletedRecord extends Deletion {
  /** Whether a record has its id again, so that it cannot be restored. */
  readonly exists: boolean
}

export interface DeletedList {
  /** The last deleted first. */
  readonly records: readonly DeletedRecord[]
  readonly nextCursor: string | null
}

const MOST_ON_PAGE = 1000

/** Deletions that are looked up before the event loop may handle other requests. */
const LOOKED_UP_AT_ONCE = 1000

/** Records whose values are read before the event loop may handle other requests. */
const RECORDS_AT_ONCE = 20

/** Length in characters of the JSON of records after which a page ends. */
const LONGEST_PAGE = 4 << 20

/**
 * Lists the deleted records that were not restored, each by its latest deletion, the last deleted first. A page ends early after 4 MiB.
 * Deletions of an imported log are left out. Throws ValidationError for a bad limit or cursor.
 */
export async function listDeleted(sheet: Sheet, query: DeletedQuery): Promise<DeletedList> {
  const limit = Math.min(pageLimit(query.limit), MOST_ON_PAGE)
  const { store } = await sheet.current()
  const before = query.cursor === null ? null : openCursor(store.cursorKey, query.cursor, SCOPE)
  // One more than asked for shows whether another page follows.
  const refs = await latestDeletions(store, { before, limit: limit + 1 })
  const records: DeletedRecord[] = []
  let [read, length] = [0, 0]
  while (read < Math.min(limit, refs.length) && length < LONGEST_PAGE) {
    const some = refs.slice(read, Math.min(read + RECORDS_AT_ONCE, limit))
    for (const record of await deletedRecords(store, some)) {
      if (length >= LONGEST_PAGE) break
      read += 1
      if (record === null) continue
      length += JSON.stringify(record.values).length
      records.push(record)
    }
    await nextTurn()
  }
  const last = read < refs.length ? refs[read - 1] : undefined
  return { records, nextCursor: last === undefined ? null : signCursor(store.cursorKey, last.seq, SCOPE) }
}

const SCOPE = 'deleted'

async function latestDeletions(
  store: SheetStore,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<readonly DeletedRef[]> {
  const found: DeletedRef[] = []
  let last = before
  for (;;) {
    const some = await store.deletedRecords({ before: last, limit: LOOKED_UP_AT_ONCE })
    found.push(...some.filter(({ isLatest }) => isLatest))
    last = some.at(-1)?.seq ?? null
    if (found.length >= limit || some.length < LOOKED_UP_AT_ONCE) return found.slice(0, limit)
    await nextTurn()
  }
}

/** Reads deleted records in the order of the references; null for each of which the log has no deletion. */
async function deletedRecords(
  store: SheetStore,
  refs: readonly DeletedRef[],
): Promise<readonly (DeletedRecord | null)[]> {
  const [deletions, existing] = await Promise.all([
    store.deletions(refs),
    store.recordKeys(refs.map(({ recordId }) => recordId)),
  ])
  return deletions.map((deletion) =>
    deletion === null ? null : { ...deletion, exists: existing.has(deletion.recordId) },
  )
}

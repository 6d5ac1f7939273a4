import { showValue } from '../../contract/json/show-value.ts'
import { SheetError } from '../../errors/service-error.ts'
import type { ReviewCounts, StoredReview, Verdict } from '../../store/stored-review.ts'
import type { WriterCounts } from '../../store/stored-writer.ts'
import { openCursor, signCursor } from '../cursor.ts'
import { pageLimit } from '../page-limit.ts'
import { selectFields } from '../queries/select-fields.ts'
import type { Sheet } from '../sheet.ts'

export interface ReviewListQuery {
  /** Null for all records, fields and verdicts. */
  readonly recordId: string | null
  readonly field: string | null
  readonly verdict: Verdict | null
  /** Whether reviews that have ended are listed too. */
  readonly ended: boolean
  /** The page size; null is 50, more than 10,000 is lowered to that. */
  readonly limit: number | null
  readonly cursor: string | null
}

export interface ReviewList {
  /** Newest first. */
  readonly reviews: readonly StoredReview[]
  /** The cells of the sheet with a review in force. */
  readonly counts: ReviewCounts
  /** The writers of the present values of the sheet. */
  readonly writers: WriterCounts
  readonly nextCursor: string | null
}

/**
 * Lists reviews of cells, newest first. Throws ValidationError for an unknown field, a bad limit or cursor, SheetError for a
 * record that does not exist.
 */
export async function readReviews(sheet: Sheet, query: ReviewListQuery): Promise<ReviewList> {
  const { recordId, field, verdict, ended, cursor } = query
  const limit = pageLimit(query.limit)
  const { contract, store } = await sheet.current()
  if (field !== null) selectFields(contract, [field])
  const scope = `reviews ${JSON.stringify([recordId, field, verdict, ended])}`
  const before = cursor === null ? null : openCursor(store.cursorKey, cursor, scope)
  const record = recordId === null ? null : (await store.recordKeys([recordId])).get(recordId)
  if (record === undefined) throw new SheetError(`no record ${showValue(recordId)}`, 'unknown_record')
  // One more than asked for shows whether another page follows.
  const [found, counts, writers] = await Promise.all([
    store.reviews({ record, field, verdict, isActive: !ended, before, limit: limit + 1 }),
    store.reviewCounts(),
    store.writerCounts(),
  ])
  const reviews = found.slice(0, limit)
  const last = found.length > limit ? reviews.at(-1) : undefined
  return {
    reviews,
    counts,
    writers,
    nextCursor: last === undefined ? null : signCursor(store.cursorKey, last.seq, scope),
  }
}

import type { Field } from '../../contract/contract.ts'
import { knownField } from '../fields/known-field.ts'
import { jsonEqual } from '../../contract/json/json.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { ConflictError, SheetError } from '../../errors/service-error.ts'
import { endReviews, insertReview } from '../rows/reviews.ts'
import type { ReviewedCell, ReviewRequest } from '../stored-review.ts'
import { load, type Steps } from './steps.ts'
import type { StoreChange, StoredRecord } from './store-change.ts'

/** The result of a review: the seqs of the lines of the log, in the order of the cells. */
export type ReviewResult = readonly number[]

/** Reviews cells, all or none; see {@link SheetStore.review}. */
export function* review(change: StoreChange, request: ReviewRequest): Steps<ReviewResult> {
  const { cells, verdict, note, actor } = request
  yield* load(change.load([...new Set(cells.map(({ recordId }) => recordId))]))
  const found = cells.map((cell) => ({ cell, ...placeOf(change, cell) }))
  for (const { cell, field, record } of found) checkSeen(cell, field, record)
  const seqs: number[] = []
  for (const { field, record } of found) {
    const { key, id } = record
    const seq = change.logReview(
      {
        actor,
        source: 'review',
        record_id: id,
        reviewed: field.name,
        verdict,
        ...(note === null ? {} : { note }),
        value: record.value(field),
      },
      key,
    )
    yield* load(change.db.change(endReviews(key, field.name)))
    if (verdict !== null) {
      const row = { seq, key, field: field.name, verdict, note, actor, at: change.at }
      yield* load(change.db.change(insertReview(row)))
    }
    seqs.push(seq)
  }
  change.cells.reviewed()
  return seqs
}

function placeOf(
  change: StoreChange,
  { recordId, field: name }: ReviewedCell,
): { readonly field: Field; readonly record: StoredRecord } {
  const record = change.records.get(recordId)
  if (record === undefined) throw new SheetError(`no record ${showValue(recordId)}`, 'unknown_record')
  return { field: knownField(change.contract, name), record }
}

function checkSeen({ recordId, seen }: ReviewedCell, field: Field, record: StoredRecord): void {
  const value = record.value(field)
  if (seen === undefined || jsonEqual(seen, value)) return
  throw new ConflictError(
    `record ${showValue(recordId)}, field ${showValue(field.name)}: the value is ${showValue(value)} by now, not ${showValue(seen)}; look at it again`,
    'value_changed',
  )
}

import { checkMayDelete } from '../../contract/rules/permissions.ts'
import type { Field } from '../../contract/contract.ts'
import { computationOf } from '../cell-entries.ts'
import { sameValue } from '../same-value.ts'
import { memberOf } from '../sheet-files/import-lines.ts'
import type { CreationRef, RevertRequest } from '../sheet-store.ts'
import { deleteRecord } from './delete-records.ts'
import { load, type Steps } from './steps.ts'
import type { StoreChange, StoredRecord } from './store-change.ts'

/**
 * Undoes the creation of records: deletes those whose values are as their creation left them, or computed since. Returns the
 * creations that were undone. Throws PermissionDeniedError for an actor that may not delete (D7).
 */
export function* deleteCreated(
  change: StoreChange,
  creations: readonly CreationRef[],
  { actor, run }: Pick<RevertRequest, 'actor' | 'run'>,
): Steps<ReadonlySet<unknown>> {
  if (creations.length === 0) return new Set()
  checkMayDelete(change.contract, actor, 'delete the records that the run created')
  const found = yield* load(change.together(creations.map((creation) => unchangedRecord(change, creation))))
  const records = found.filter((record) => record !== null)
  const kept = yield* load(change.keptValues(records.map(({ key }) => key)))
  for (const record of records)
    deleteRecord(change, record, { actor, proposal: null, run, kept: kept.get(record.key) })
  // Other records may have their unique values now.
  yield* load(change.flush())
  return new Set(creations.filter((_, index) => found[index] !== null))
}

/** Returns the record of a creation; null where it does not exist any more, or has another value that was not computed. */
function* unchangedRecord(
  change: StoreChange,
  { recordId, key, values }: CreationRef,
): Steps<StoredRecord | null> {
  const record = change.records.get(recordId)
  if (record?.key !== key) return null
  for (const field of change.contract.fields) {
    const isSame = sameValue(record.value(field), memberOf(values, field.name))
    if (!isSame && !(yield* isComputed(change, record, field))) return null
  }
  return record
}

function* isComputed({ cells, log }: StoreChange, { id }: StoredRecord, field: Field): Steps<boolean> {
  if (!cells.isDerived(field.name)) return false
  const history = yield* load(log.cell(id, field))
  const latest = history === null ? null : yield* history.latestBefore(Number.MAX_SAFE_INTEGER)
  return computationOf(latest) !== null
}

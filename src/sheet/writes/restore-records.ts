import { ValidationError } from '../../errors/service-error.ts'
import type { DeletionRef } from '../../store/sheet-store.ts'
import { withHashes } from '../cells/hashes-of-deleted.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import type { RevertReport } from '../runs/revert.ts'
import type { Sheet } from '../sheet.ts'

/** The maximum number of records that one request restores. */
export const MAX_RECORDS = 10_000

export interface RestoreRecordsRequest {
  /** The deletions to revert. Of a record that is named again, the later ones are ignored. */
  readonly records: readonly DeletionRef[]
  readonly actor: GivenActor
}

/**
 * Reverts deletions: restores all values that the records had, also of fields that the actor may not write, at the end
 * of the creation order. Manual values are manual again; computed values are fresh if the same derivation would send
 * the same request now, else stale. Restores all of the records or none. Throws ValidationError for no records, too
 * many, without an actor, and for values that the contract no longer allows; PermissionDeniedError for an actor that
 * may not delete (D7); SheetError for a record that was never deleted; ConflictError for one that exists;
 * ContractError.
 */
export async function restoreRecords(sheet: Sheet, request: RestoreRecordsRequest): Promise<RevertReport> {
  const refs = [
    ...new Map(request.records.toReversed().map((ref) => [ref.recordId, ref])).values(),
  ].toReversed()
  if (refs.length === 0) throw new ValidationError('record_ids is empty; name the deleted records to restore')
  if (refs.length > MAX_RECORDS) {
    throw new ValidationError(
      `${refs.length} records are too many to restore at once; name at most ${MAX_RECORDS} in a request`,
      'too_many_items',
    )
  }
  const actor = resolveActor(sheet, request.actor)
  const { store, derivations } = await sheet.deriving()
  const records = await withHashes(store, derivations.levels.flat(), refs)
  const { restored } = await store.restore({ actor, records })
  return { reverted: restored, conflicts: [], runId: null }
}

import type { JsonObject } from '../../contract/json/json.ts'
import { checkMayDelete } from '../../contract/rules/permissions.ts'
import type { AcceptedProposal } from '../../provenance/log-line.ts'
import type { DeleteResult, Upsert } from '../sheet-store.ts'
import type { RunId } from '../stored-run.ts'
import { checkVersion } from './check-version.ts'
import { load, type Steps } from './steps.ts'
import type { StoreChange, StoredRecord } from './store-change.ts'

/** The ids to delete, the actor, and the versions that the records must have. */
export interface DeleteRequest extends Pick<Upsert, 'ifMatch'> {
  readonly ids: readonly string[]
  readonly actor: string
}

/**
 * Deletes the existing records of these ids (D15). Throws PreconditionFailedError for a record that does not have the
 * requested version, and PermissionDeniedError where the contract forbids it to the actor (D7).
 */
export function* deleteRecords(
  change: StoreChange,
  { ids, actor, ifMatch }: DeleteRequest,
  proposal: AcceptedProposal | null = null,
): Steps<DeleteResult> {
  const { records, contract } = change
  yield* load(change.load(ids))
  for (const id of ids) checkVersion(id, ifMatch, records.get(id))
  checkMayDelete(contract, actor, 'delete records')
  const existing = [...new Set(ids)].map((id) => records.get(id)).filter((record) => record !== undefined)
  const kept = yield* load(change.keptValues(existing.map(({ key }) => key)))
  for (const record of existing)
    deleteRecord(change, record, { actor, proposal, run: null, kept: kept.get(record.key) })
  return { deleted: existing.length, remaining: change.totalRecords() }
}

/** Deletes a record, with the line of its deletion. */
export function deleteRecord(
  change: StoreChange,
  record: StoredRecord,
  by: {
    readonly actor: string
    readonly proposal: AcceptedProposal | null
    /** The revert that deletes it; null for none. */
    readonly run: RunId | null
    readonly kept: JsonObject | undefined
  },
): void {
  const { key, id: recordId } = record
  const fields = change.contract.fields.filter((field) => record.value(field) !== null)
  const previous = record.value.bind(record)
  const seq = change.logRecord({ ...by, source: 'delete', recordId, fields, values: null, previous }, key)
  change.cells.deleted(key)
  change.delete(record, seq)
}

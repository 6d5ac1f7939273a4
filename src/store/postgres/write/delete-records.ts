import type { Field } from '../../../contract/contract.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import { checkMayDelete } from '../../../contract/rules/permissions.ts'
import type { AcceptedProposal } from '../../../provenance/log-line.ts'
import type { DeleteResult, Upsert } from '../../sheet-store.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import { checkVersion } from '../../rules/check-version.ts'
import type { StoredRecord } from '../changes/stored-record.ts'

/** What shall be deleted, by whom, and if it is still of these versions. */
export interface Deletion extends Pick<Upsert, 'ifMatch'> {
  readonly ids: readonly string[]
  readonly actor: string
}

/**
 * Deletes what exists of these ids (D15). Throws PreconditionFailedError for a record that is not of the version asked
 * for, and PermissionDeniedError where the contract does not let the actor (D7).
 */
export async function deleteRecords(
  change: ChangeSet,
  { ids, actor, ifMatch }: Deletion,
  proposal: AcceptedProposal | null = null,
): Promise<DeleteResult> {
  await change.records.load(ids)
  for (const id of ids) checkVersion(id, ifMatch, (of) => change.records.versionOf(of))
  checkMayDelete(change.contract, actor, 'delete records')
  const records = [...new Set(ids)]
    .map((id) => change.records.get(id))
    .filter((record) => record !== undefined)
  await change.cells.load(records.map(({ key }) => key))
  for (const record of records) deleteRecord(change, record, { actor, proposal })
  return { deleted: records.length, remaining: change.totalRecords() }
}

function deleteRecord(
  change: ChangeSet,
  record: StoredRecord,
  by: { readonly actor: string; readonly proposal: AcceptedProposal | null },
): void {
  const { key, id: recordId } = record
  const previous = (field: Field): JsonValue => record.value(field)
  const fields = change.contract.fields.filter((field) => previous(field) !== null)
  change.logRecord({ ...by, source: 'delete', recordId, fields, values: null, previous }, key)
  change.cells.deleted(key)
  change.delete(record)
}

import type { Field } from '../../../contract/contract.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import { checkMayDelete } from '../../../contract/rules/permissions.ts'
import type { AcceptedProposal } from '../../../provenance/log-line.ts'
import type { DeleteResult, Upsert } from '../../sheet-store.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import { checkVersion } from '../../rules/check-version.ts'
import { canBeId, fromColumn } from '../database/values.ts'
import { versionOf } from '../database/version-of.ts'

/** What shall be deleted, by whom, and if it is still of these versions. */
export interface Deletion extends Pick<Upsert, 'ifMatch'> {
  readonly ids: readonly string[]
  readonly actor: string
}

/**
 * Deletes what exists of these ids (D15). Throws PreconditionFailedError for a record that is not of the version asked
 * for, and PermissionDeniedError where the contract does not let the actor (D7).
 */
export function deleteRecords(
  change: ChangeSet,
  { ids, actor, ifMatch }: Deletion,
  proposal: AcceptedProposal | null = null,
): DeleteResult {
  for (const id of ids) checkVersion(id, ifMatch, (of) => versionOf(change.db, of))
  checkMayDelete(change.contract, actor, 'delete records')
  let deleted = 0
  for (const id of new Set(ids.filter(canBeId)))
    deleted += deleteRecord(change, id, { actor, proposal }) ? 1 : 0
  return { deleted, remaining: change.totalRecords() }
}

function deleteRecord(
  change: ChangeSet,
  id: string,
  by: { readonly actor: string; readonly proposal: AcceptedProposal | null },
): boolean {
  const stored = change.db.get('DELETE FROM "$data" WHERE id = ? RETURNING *', id)
  if (stored === undefined) return false
  const key = Number(stored['$seq'])
  const previous = (field: Field): JsonValue => fromColumn(field, stored[field.name])
  const fields = change.contract.fields.filter((field) => previous(field) !== null)
  change.logRecord({ ...by, source: 'delete', recordId: id, fields, values: null, previous }, key)
  change.cells.deleted(key)
  change.recordDeleted(id, key)
  return true
}

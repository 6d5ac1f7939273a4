import type {
  FieldDifferenceAnswer,
  ProposalAnswer,
  ProposalSummary,
  RecordDifferenceAnswer,
} from '../../../src/wire/records/proposals.ts'
import type { PermissionsAnswer } from '../../../src/wire/records/permissions.ts'
import { countOf } from '../ui/format.ts'

export function proposalName({ id }: Pick<ProposalSummary, 'id'>): string {
  return `Proposal ${id}`
}

/** Returns the kind and size of a proposal: `Write 2 records`. */
export function changeText({ kind, record_count: count }: ProposalSummary): string {
  if (kind === 'definition') return 'Change the fields or derivations'
  return `${kind === 'delete' ? 'Delete' : 'Write'} ${countOf(count, 'record')}`
}

/** The change of a record since a proposal, as the predicate of a sentence. */
export const CHANGE_TEXTS: Readonly<Record<Exclude<RecordDifferenceAnswer['moved'], null>, string>> = {
  created: 'was created by someone else in the meantime',
  deleted: 'was deleted in the meantime',
  recreated: 'was deleted and created again in the meantime',
  changed: 'was changed in the meantime',
}

/** Returns the records that have changed since the proposal, which prevent accepting it. */
export function movedRecords({ records }: ProposalAnswer): readonly RecordDifferenceAnswer[] {
  return records.filter(({ moved }) => moved !== null)
}

/** The number of records that a reason names. */
const NAMED = 3

/** Returns the default reason for rejecting an outdated proposal. */
export function reasonForMoved(records: readonly RecordDifferenceAnswer[]): string {
  if (records.length === 0) return ''
  const named = records.slice(0, NAMED).map(({ record_id: id, fields }) => {
    const moved = fields.filter((field) => field.moved).map(({ field }) => field)
    return moved.length === 0 ? id : `${moved.join(', ')} of ${id}`
  })
  const more = records.length > NAMED ? ` and ${countOf(records.length - NAMED, 'more record')}` : ''
  return `Changed since the proposal: ${named.join('; ')}${more}`
}

/**
 * Returns why an actor may not accept the proposal: their own proposal, or missing permissions. Null if they may, or
 * if the permissions are not loaded.
 */
export function acceptObstacle(
  proposal: ProposalAnswer,
  actor: string,
  permissions: PermissionsAnswer | undefined,
  titleOf: (field: string) => string,
): string | null {
  if (proposal.proposed_by === actor) return 'You proposed this yourself: someone else has to accept it.'
  if (permissions === undefined || permissions.actor !== actor) return null
  if (proposal.kind === 'definition') {
    return permissions.read_only_definition ? 'This service does not change fields and derivations.' : null
  }
  if (proposal.kind === 'delete') {
    return permissions.delete ? null : `The contract does not allow ${actor} to delete records.`
  }
  const fields = new Set(proposal.records.flatMap((record) => record.fields.map(({ field }) => field)))
  const denied = [...fields].filter((field) => !permissions.write.includes(field))
  if (denied.length === 0) return null
  return `The contract does not allow ${actor} to write ${denied.map(titleOf).join(', ')}.`
}

/** Whether a difference has a value to show; deleting a deleted record has none. */
export function isShown({ was, now, proposed }: FieldDifferenceAnswer): boolean {
  return [was, now, proposed].some((value) => value !== null)
}

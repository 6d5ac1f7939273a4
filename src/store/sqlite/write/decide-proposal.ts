import { showValue } from '../../../contract/json/show-value.ts'
import { PermissionDeniedError, SheetError } from '../../../errors/service-error.ts'
import type { AcceptedProposal } from '../../../provenance/log-line.ts'
import { differenceOf } from '../../rules/proposal-difference.ts'
import { checkWaiting, refuseMoved } from '../../rules/proposal-rules.ts'
import type {
  ProposalDecision,
  ProposalRejection,
  ProposalState,
  StoredProposal,
} from '../../stored-proposal.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import { deleteRecords } from './delete-records.ts'
import { presentRecord } from '../read/present-record.ts'
import { readProposal, readProposedRecords } from '../read/proposal-reader.ts'
import { writeRecords } from './upsert.ts'
import { runNumber } from '../../rows/stored-rows.ts'

/** Makes the proposed change, together with the decision; see {@link ProposalStore.accept}. */
export function acceptProposal(change: ChangeSet, { id, actor }: ProposalDecision): null {
  const { kind, proposedBy } = waitingProposal(change, id)
  const records = readProposedRecords(change.db, id)
  const { db, contract, cells } = change
  const present = { contract, isDerived: (field: string) => cells.isDerived(field) }
  refuseMoved(
    id,
    records.map((record) => differenceOf(present, record, presentRecord(db, record.recordId))),
  )
  if (actor === proposedBy) {
    throw new PermissionDeniedError(
      `actor ${JSON.stringify(actor)} made proposal ${id}, and somebody else has to accept it`,
      'own_proposal',
    )
  }
  const proposal: AcceptedProposal = { id, by: proposedBy }
  if (kind === 'delete') {
    deleteRecords(change, { ids: records.map(({ recordId }) => recordId), actor, ifMatch: null }, proposal)
  } else {
    const written = records.map(({ recordId, change: values }) => ({ ...values, id: recordId }))
    writeRecords(change, written, { actor, proposal, anyField: false })
  }
  return decide(change, { id, actor, reason: null }, 'accepted')
}

/** Decides against a proposal; see {@link ProposalStore.reject}. */
export function rejectProposal(change: ChangeSet, rejection: ProposalRejection): null {
  waitingProposal(change, rejection.id)
  return decide(change, rejection, 'rejected')
}

function waitingProposal({ db }: ChangeSet, id: string): StoredProposal {
  const proposal = readProposal(db, id)
  if (proposal === null) throw new SheetError(`no proposal ${showValue(id)}`, 'unknown_proposal')
  checkWaiting(proposal)
  return proposal
}

function decide(
  { db, at }: ChangeSet,
  { id, actor, reason }: ProposalRejection,
  state: Exclude<ProposalState, 'waiting'>,
): null {
  const values = [state, actor, at, reason, runNumber(id)]
  db.run(
    'UPDATE "$proposal" SET state = ?, decided_by = ?, decided_at = ?, reason = ? WHERE id = ?',
    ...values,
  )
  db.run('UPDATE "$sheet" SET proposal_changes = proposal_changes + 1')
  return null
}

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
import { readProposal, readProposedRecords } from '../read/proposal-reader.ts'
import { writeRecords } from './upsert.ts'
import { runNumber } from '../../rows/stored-rows.ts'

/** Makes the proposed change, together with the decision; see {@link ProposalStore.accept}. */
export async function acceptProposal(change: ChangeSet, { id, actor }: ProposalDecision): Promise<void> {
  const { kind, proposedBy } = await waitingProposal(change, id)
  const records = await readProposedRecords(change.db, id)
  await change.records.load(records.map(({ recordId }) => recordId))
  const { contract, cells } = change
  const present = { contract, isDerived: (field: string) => cells.isDerived(field) }
  refuseMoved(
    id,
    records.map((record) => differenceOf(present, record, change.records.get(record.recordId) ?? null)),
  )
  if (actor === proposedBy) {
    throw new PermissionDeniedError(
      `actor ${JSON.stringify(actor)} made proposal ${id}, and somebody else has to accept it`,
      'own_proposal',
    )
  }
  const proposal: AcceptedProposal = { id, by: proposedBy }
  if (kind === 'delete') {
    const ids = records.map(({ recordId }) => recordId)
    await deleteRecords(change, { ids, actor, ifMatch: null }, proposal)
  } else {
    const written = records.map(({ recordId, change: values }) => ({ ...values, id: recordId }))
    await writeRecords(change, written, { actor, proposal, anyField: false })
  }
  await decide(change, { id, actor, reason: null }, 'accepted')
}

/** Decides against a proposal; see {@link ProposalStore.reject}. */
export async function rejectProposal(change: ChangeSet, rejection: ProposalRejection): Promise<void> {
  await waitingProposal(change, rejection.id)
  await decide(change, rejection, 'rejected')
}

async function waitingProposal({ db }: ChangeSet, id: string): Promise<StoredProposal> {
  const proposal = await readProposal(db, id)
  if (proposal === null) throw new SheetError(`no proposal ${showValue(id)}`, 'unknown_proposal')
  checkWaiting(proposal)
  return proposal
}

async function decide(
  { db, at }: ChangeSet,
  { id, actor, reason }: ProposalRejection,
  state: Exclude<ProposalState, 'waiting'>,
): Promise<void> {
  await db.run(
    'UPDATE "$proposal" SET state = $1, decided_by = $2, decided_at = $3, reason = $4 WHERE id = $5',
    state,
    actor,
    at,
    reason,
    runNumber(id),
  )
  await db.run('UPDATE "$sheet" SET proposal_changes = proposal_changes + 1')
}

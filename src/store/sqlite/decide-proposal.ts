import { showValue } from '../../contract/show-value.ts'
import { ConflictError, PermissionDeniedError, SheetError } from '../../errors/service-error.ts'
import type { AcceptedProposal } from '../../provenance/log-line.ts'
import type {
  ProposalDecision,
  ProposalRejection,
  ProposalState,
  RecordDifference,
  RecordMove,
} from '../stored-proposal.ts'
import { Faults } from '../upsert-body.ts'
import type { ChangeSet } from './change-set.ts'
import { deleteRecords } from './delete-records.ts'
import { differenceOf } from './proposal-difference.ts'
import { readProposal, readProposedRecords } from './proposal-reader.ts'
import { writeRecords } from './upsert.ts'
import { runNumber } from './values.ts'

/** Makes the proposed change, together with the decision; see {@link ProposalStore.accept}. */
export function acceptProposal(change: ChangeSet, { id, actor }: ProposalDecision): null {
  const { kind, proposedBy } = waitingProposal(change, id)
  const records = readProposedRecords(change.db, id)
  const { db, contract, cells } = change
  const present = { db, contract, isDerived: (field: string) => cells.isDerived(field) }
  refuseMoved(
    id,
    records.map((record) => differenceOf(present, record)),
  )
  if (actor === proposedBy) {
    throw new PermissionDeniedError(
      `actor ${JSON.stringify(actor)} made proposal ${id}, and somebody else has to accept it`,
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

function waitingProposal({ db }: ChangeSet, id: string): { kind: 'upsert' | 'delete'; proposedBy: string } {
  const proposal = readProposal(db, id)
  if (proposal === null) throw new SheetError(`no proposal ${showValue(id)}`)
  const { state, decidedBy, decidedAt } = proposal
  if (state === 'waiting') return proposal
  throw new ConflictError(
    `proposal ${id} does not wait any more: ${JSON.stringify(decidedBy)} ${state} it at ${decidedAt}; nothing was changed`,
  )
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

const MOVES: Readonly<Record<Exclude<RecordMove, 'changed'>, string>> = {
  created: 'exists by now',
  deleted: 'has been deleted',
  recreated: 'has been deleted and created again',
}

function refuseMoved(id: string, records: readonly RecordDifference[]): void {
  const faults = new Faults()
  for (const { recordId, moved, fields } of records) {
    const record = `record ${showValue(recordId)}`
    if (moved === null) continue
    if (moved !== 'changed') {
      faults.add(() => `${record} ${MOVES[moved]}`)
      continue
    }
    for (const { field, was, now } of fields.filter((difference) => difference.moved)) {
      faults.add(() => `${record}, field "${field}": was ${showValue(was)} then and is ${showValue(now)} now`)
    }
  }
  if (faults.count === 0) return
  throw new ConflictError(
    `the records have moved since proposal ${id} was made, and nothing was changed: ${faults.message()}; ` +
      'reject it, and have it proposed again for what they are now',
  )
}

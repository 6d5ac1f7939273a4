import { showValue } from '../../contract/json/show-value.ts'
import { PermissionDeniedError, SheetError } from '../../errors/service-error.ts'
import type { AcceptedProposal } from '../../provenance/log-line.ts'
import { presentProposed } from '../fields/present-values.ts'
import { FIELD_CHANGES } from '../fields/stored-changes.ts'
import {
  COUNT_PROPOSAL_CHANGE,
  decideProposal,
  proposalById,
  proposedRecords,
} from '../rows/proposal-queries.ts'
import type {
  ProposalDecision,
  ProposalRejection,
  ProposalState,
  StoredProposal,
} from '../stored-proposal.ts'
import { deleteRecords } from './delete-records.ts'
import { differenceOf } from './proposal-difference.ts'
import { checkWaiting, refuseMoved } from './proposal-rules.ts'
import { load, type Steps } from './steps.ts'
import type { StoreChange } from './store-change.ts'
import { writeRecords } from './upsert.ts'

/** Makes the proposed change, together with the decision; see {@link ProposalStore.accept}. */
export function* acceptProposal(change: StoreChange, { id, actor }: ProposalDecision): Steps<void> {
  const { kind, proposedBy } = yield* waitingProposal(change.db, id)
  if (kind === 'definition') throw new Error('a proposed definition is accepted with its change')
  const changes = yield* load(change.db.query(FIELD_CHANGES))
  const proposed = yield* load(change.db.query(proposedRecords(id)))
  const records = proposed.map((one) => presentProposed({ contract: change.contract, changes }, one))
  const ids = records.map(({ recordId }) => recordId)
  yield* load(change.load(ids))
  const { contract, cells } = change
  const present = { contract, isDerived: (field: string) => cells.isDerived(field) }
  refuseMoved(
    id,
    records.map((record) => differenceOf(present, record, change.records.get(record.recordId) ?? null)),
  )
  checkNotOwn({ id, proposedBy }, actor)
  const proposal: AcceptedProposal = { id, by: proposedBy }
  if (kind === 'delete') {
    yield* deleteRecords(change, { ids, actor, ifMatch: null }, proposal)
  } else {
    const written = records.map(({ recordId, change: values }) => ({ ...values, id: recordId }))
    yield* writeRecords(change, written, { actor, proposal, anyField: false })
  }
  yield* decide(change, { id, actor, reason: null }, 'accepted')
}

/**
 * Decides that a proposed change of the definition is accepted, in the transaction that carries it out. Throws SheetError for an unknown
 * proposal, ConflictError for one that is decided, PermissionDeniedError to its proposer.
 */
export function* acceptDefinition(
  db: ProposalTables,
  { id, actor }: ProposalDecision,
  at: string,
): Steps<void> {
  const { proposedBy } = yield* waitingProposal(db, id)
  checkNotOwn({ id, proposedBy }, actor)
  yield* decide({ db, at }, { id, actor, reason: null }, 'accepted')
}

/** Throws PermissionDeniedError to the proposer of a proposal. */
export function checkNotOwn(
  { id, proposedBy }: Pick<StoredProposal, 'id' | 'proposedBy'>,
  actor: string,
): void {
  if (actor !== proposedBy) return
  throw new PermissionDeniedError(
    `actor ${JSON.stringify(actor)} made proposal ${id}, and somebody else has to accept it`,
    'own_proposal',
  )
}

/** The tables that a decision reads and changes. */
type ProposalTables = Pick<StoreChange['db'], 'query' | 'change'>

/** Rejects a proposal; see {@link ProposalStore.reject}. */
export function* rejectProposal(change: StoreChange, rejection: ProposalRejection): Steps<void> {
  yield* waitingProposal(change.db, rejection.id)
  yield* decide(change, rejection, 'rejected')
}

function* waitingProposal(db: ProposalTables, id: string): Steps<StoredProposal> {
  const proposal = yield* load(db.query(proposalById(id)))
  if (proposal === null) throw new SheetError(`no proposal ${showValue(id)}`, 'unknown_proposal')
  checkWaiting(proposal)
  return proposal
}

function* decide(
  { db, at }: { readonly db: ProposalTables; readonly at: string },
  rejection: ProposalRejection,
  state: Exclude<ProposalState, 'waiting'>,
): Steps<void> {
  yield* load(db.change(decideProposal(rejection, state, at)))
  yield* load(db.change(COUNT_PROPOSAL_CHANGE))
}

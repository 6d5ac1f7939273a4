import { showValue } from '../../contract/json/show-value.ts'
import { PermissionDeniedError, SheetError } from '../../errors/service-error.ts'
import type { AcceptedProposal } from '../../provenance/log-line.ts'
import { pastNames, presentProposed } from '../fields/present-values.ts'
import { FIELD_CHANGES } from '../fields/stored-changes.ts'
import {
  COUNT_PROPOSAL_CHANGE,
  decideProposal,
  decisionsOnParts,
  proposalById,
  proposedRecords,
  setDecisions,
  type DecidedRow,
  type NumberedRecord,
} from '../rows/proposal-queries.ts'
import type {
  Decision,
  MadeDecision,
  PartDecisions,
  ProposalDecision,
  ProposalId,
  ProposalRejection,
  StoredProposal,
} from '../stored-proposal.ts'
import { deleteRecords } from './delete-records.ts'
import { differenceOf } from './proposal-difference.ts'
import {
  checkWaiting,
  refuseMoved,
  chooseParts,
  decisionOn,
  onlyParts,
  waitingParts,
  withDecision,
  type ChosenRecord,
} from './proposal-rules.ts'
import { load, type Steps } from './steps.ts'
import type { StoreChange } from './store-change.ts'
import { writeRecords } from './upsert.ts'

/** Makes the proposed change, or parts of it, together with the decision; see {@link ProposalStore.accept}. */
export function* acceptProposal(
  change: StoreChange,
  { id, actor, parts = null }: ProposalDecision,
): Steps<void> {
  const { kind, proposedBy } = yield* waitingProposal(change.db, id)
  if (kind === 'definition') throw new Error('a proposed definition is accepted with its change')
  const all = yield* presentRecords(change, id)
  const chosen = chooseParts(id, all, parts)
  const records = chosen.map(({ proposed, parts: some }) => onlyParts(proposed.record, some))
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
  const decision = { state: 'accepted', by: actor, at: change.at, reason: null } as const
  yield* decideParts(change, { id, all, chosen, decision })
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
  yield* decideAll(db, id, { state: 'accepted', by: actor, at, reason: null })
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

/** Rejects a proposal, or parts of it; see {@link ProposalStore.reject}. */
export function* rejectProposal(
  change: StoreChange,
  { id, actor, reason, parts = null }: ProposalRejection,
): Steps<void> {
  yield* waitingProposal(change.db, id)
  const all = yield* presentRecords(change, id)
  const decision = { state: 'rejected', by: actor, at: change.at, reason } as const
  yield* decideParts(change, { id, all, chosen: chooseParts(id, all, parts), decision })
}

/** Reads the records of a proposal, with the present names and types of fields. */
function* presentRecords({ db, contract }: StoreChange, id: ProposalId): Steps<readonly PresentRecord[]> {
  const changes = yield* load(db.query(FIELD_CHANGES))
  const proposed = yield* load(db.query(proposedRecords(id)))
  return proposed.map((one) => ({
    number: one.number,
    record: presentProposed({ contract, changes }, one),
    pastName: pastNames({ changes }, one.fieldsSeq),
  }))
}

interface PresentRecord extends Pick<NumberedRecord, 'record' | 'number'> {
  /** Returns the name that a field had when the change was proposed. */
  pastName(field: string): string
}

function* waitingProposal(db: ProposalTables, id: string): Steps<StoredProposal> {
  const proposal = yield* load(db.query(proposalById(id)))
  if (proposal === null) throw new SheetError(`no proposal ${showValue(id)}`, 'unknown_proposal')
  checkWaiting(proposal)
  return proposal
}

interface DecisionOnParts {
  readonly id: ProposalId
  /** All records of the proposal, and those of the decision. */
  readonly all: readonly PresentRecord[]
  readonly chosen: readonly ChosenRecord<PresentRecord>[]
  readonly decision: MadeDecision
}

/** Stores a decision on parts of a proposal, which then waits while other parts do. */
function* decideParts(change: StoreChange, { id, all, chosen, decision }: DecisionOnParts): Steps<void> {
  const { db } = change
  const partsOf = new Map(chosen.map(({ proposed, parts }) => [proposed, parts]))
  const decided = new Map(
    all.map((one) => [one, withDecision(one.record.decided, partsOf.get(one) ?? [], decision.state)]),
  )
  const waits = all.some((one) => waitingParts({ ...one.record, decided: decided.get(one) ?? {} }).length > 0)
  const earlier = yield* load(db.query(decisionsOnParts(id)))
  // One decision on all of it needs no decisions on its parts.
  if (waits || earlier !== null) {
    yield* load(db.change(setDecisions(id, [...(earlier ?? []), decision])))
    const rows = chosen.map((one) => decidedRow(change, one, decision.state))
    yield* load(change.decideProposed(Number(id), rows))
  }
  if (waits) yield* load(db.change(COUNT_PROPOSAL_CHANGE))
  else {
    const state = earlier === null ? decision.state : finalState([...decided.values()])
    yield* decideAll(db, id, { ...decision, state })
  }
}

/** A proposal with an accepted part is accepted. */
function finalState(decided: readonly PartDecisions[]): Decision {
  return decided.some((one) => decisionOn({ decided: one }) === 'accepted') ? 'accepted' : 'rejected'
}

/** Returns the row of a record with a decision on parts of it; what waits of a record that it created changes that record. */
function decidedRow(
  { records }: StoreChange,
  { proposed, parts }: ChosenRecord<PresentRecord>,
  state: Decision,
): DecidedRow {
  const { number, record, pastName } = proposed
  const now = withDecision(record.decided, parts, state)
  const decided = Object.fromEntries(Object.entries(now).map(([field, made]) => [pastName(field), made]))
  const isCreated = record.key === null && state === 'accepted'
  const created = isCreated ? records.get(record.recordId) : undefined
  const { key, version } =
    created === undefined ? record : { key: created.key, version: String(created.version) }
  return { number, decided: JSON.stringify(decided), key, version }
}

/** Stores that nothing of a proposal waits any more. */
function* decideAll(db: ProposalTables, id: ProposalId, { state, ...made }: MadeDecision): Steps<void> {
  yield* load(db.change(decideProposal(id, state, made)))
  yield* load(db.change(COUNT_PROPOSAL_CHANGE))
}

import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { nestsTooDeep } from '../../contract/json/json-depth.ts'
import { showValue } from '../../contract/json/show-value.ts'
import {
  OperationError,
  PreconditionFailedError,
  SheetError,
  ValidationError,
} from '../../errors/service-error.ts'
import type { SheetStore } from '../../store/sheet-store.ts'
import {
  PROPOSAL_STATES,
  type ProposalDetail as RecordsDetail,
  type ProposalId,
  type ProposalPart,
  type ProposalState,
  type ProposedChange,
  type ProposedDefinition,
  type StoredProposal,
} from '../../store/stored-proposal.ts'
import { checkNotOwn } from '../../store/rules/decide-proposal.ts'
import { checkWaiting } from '../../store/rules/proposal-rules.ts'
import { readBody } from '../../store/rules/upsert-body.ts'
import {
  acceptProposed,
  definitionDifference,
  planProposed,
  type DefinitionDifference,
  type ProposalPlan,
} from '../definition/change/proposed-change.ts'
import { replaceContract, type WholeContract } from '../definition/change/replace-contract.ts'
import { openCursor, signCursor } from '../cursor.ts'
import { pageLimit } from '../page-limit.ts'
import type { PageOptions } from '../runs/read-runs.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import type { Sheet } from '../sheet.ts'

export type {
  ProposalPart,
  ProposedCell,
  ProposedChange,
  StoredProposal,
} from '../../store/stored-proposal.ts'

/** A proposal with its changes: of records, or of the definition. */
export interface ProposalDetail extends RecordsDetail {
  /** Null for a change of records. */
  readonly definition: DefinitionDifference | null
}

export interface ProposeRequest {
  /** Records to insert or merge, or the ids of records to delete. */
  readonly change: ProposedChange
  /** The proposer; null for the sheet's default actor. */
  readonly actor: GivenActor
  /** The reason, for the actor who decides; null or empty for none. */
  readonly note: string | null
}

export interface ProposalDecision {
  readonly id: ProposalId
  /** The actor who decides; null for the sheet's default actor. */
  readonly actor: GivenActor
  /** The records, and fields of them, on which the decision is, and the others wait; null or absent for all that waits. */
  readonly parts?: readonly ProposalPart[] | null
}

export interface ProposalAcceptance extends ProposalDecision {
  /** See {@link Acceptance.confirm}. */
  readonly confirm?: ReadonlyMap<string, number>
}

export interface ProposalRejection extends ProposalDecision {
  /** The reason, for the proposer; null or empty for none. */
  readonly reason: string | null
}

export interface ProposalListQuery extends PageOptions {
  /** The state to list: `waiting`, `accepted` or `rejected`; null for all. */
  readonly state: string | null
}

export interface ProposalList {
  readonly proposals: readonly StoredProposal[]
  /** The number of waiting proposals, independent of the query. */
  readonly waiting: number
  readonly nextCursor: string | null
}

/** The most proposals on a page: with the longest notes and reasons they take several MiB. */
const MOST_ON_PAGE = 1000

/** The maximum length of a note and of a reason, in UTF-16 units. */
export const TEXT_LIMIT = 2000

/**
 * Stores a change that waits until another actor accepts it, and returns the proposal. The proposer needs no permission
 * to write the change. Throws the ValidationError that the write would, OperationError for a change without effect,
 * ConflictError when too many proposals wait.
 */
export async function propose(sheet: Sheet, request: ProposeRequest): Promise<StoredProposal> {
  const { change } = request
  checkChange(change)
  const note = checkText('note', request.note)
  const actor = resolveActor(sheet, request.actor)
  const { store } = await sheet.deriving()
  return proposalOf(store, await store.proposals.propose({ change, actor, note }))
}

/**
 * Stores a change of the contract and of derivation files that waits until another actor accepts it, and returns the proposal. Throws as
 * {@link replaceContract} does.
 */
export async function proposeDefinition(
  sheet: Sheet,
  contract: WholeContract,
  { note, actor }: Pick<ProposeRequest, 'note' | 'actor'>,
): Promise<StoredProposal> {
  const options = { actor, note: checkText('note', note), ifMatch: null, dryRun: false, proposes: true }
  const { proposed } = await replaceContract(sheet, contract, options)
  if (proposed === null) throw new Error('a proposed change is a proposal')
  return proposalOf((await sheet.definition()).store, proposed)
}

/** Validates parsed records against the limits of those that the store parses, and returns them. Throws ValidationError. */
export function requireJsonRecords(records: readonly unknown[]): readonly JsonObject[] {
  if (nestsTooDeep(records)) {
    throw new ValidationError(
      'the records nest arrays and objects too deep; send flatter values',
      'invalid_json',
    )
  }
  return records.map((record, position) => {
    const value = record as JsonValue
    if (isJsonObject(value)) return value
    throw new ValidationError(`records[${position}] must be an object`)
  })
}

/** Lists proposals, newest first, at most 1,000 at a time. Throws ValidationError for a bad state, limit or cursor. */
export async function listProposals(sheet: Sheet, query: ProposalListQuery): Promise<ProposalList> {
  const limit = Math.min(pageLimit(query.limit), MOST_ON_PAGE)
  const state = checkState(query.state)
  const { store } = await sheet.current()
  const scope = `proposals ${state ?? ''}`
  const before = query.cursor === null ? null : String(openCursor(store.cursorKey, query.cursor, scope))
  // One more than asked for shows whether another page follows.
  const found = await store.proposals.list({ state, before, limit: limit + 1 })
  const proposals = found.slice(0, limit)
  const last = found.length > limit ? proposals.at(-1) : undefined
  return {
    proposals,
    waiting: (await store.proposals.counts()).waiting,
    nextCursor: last === undefined ? null : signCursor(store.cursorKey, Number(last.id), scope),
  }
}

/** Reads a proposal with its differences to the present records. Throws SheetError for an unknown one. */
export async function getProposal(sheet: Sheet, id: ProposalId): Promise<ProposalDetail> {
  const { store } = await sheet.current()
  const proposal = await store.proposals.detail(id)
  if (proposal === null) throw unknownProposal(id)
  const proposed = await store.proposals.definition(id)
  const isWaiting = proposal.state === 'waiting'
  const definition = proposed === null ? null : await definitionDifference(sheet, proposed, isWaiting)
  return { ...proposal, definition }
}

/**
 * Returns the effect that accepting a proposed change of the definition would have on the present state. Changes nothing. Throws
 * SheetError for an unknown proposal; ConflictError for one that is decided; PreconditionFailedError where a file has changed since;
 * OperationError for a change of records, and where the change is no longer possible.
 */
export async function planProposal(sheet: Sheet, id: ProposalId): Promise<ProposalPlan> {
  const { store } = await sheet.definition()
  const found = await proposalOf(store, id)
  checkWaiting(found)
  const proposed = await store.proposals.definition(id)
  if (proposed === null) {
    throw new OperationError(
      `proposal ${id} changes records, and its differences are its effect; read the proposal`,
      'invalid_operation',
    )
  }
  return planProposed(sheet, proposed, found.proposedBy)
}

/**
 * Writes a proposed change, or parts of it, and returns the proposal. The actor needs permission to write it, and must not be the
 * proposer. Throws SheetError for an unknown proposal, and for a record that it does not have; ValidationError for a field that it does
 * not have; ConflictError for what is decided, and for records that have
 * changed in a field that is accepted, which then still waits; PermissionDeniedError and ValidationError as the write
 * does. A change of the definition is carried out; throws PreconditionFailedError where one of its files has changed, and OperationError for parts of it.
 */
export async function acceptProposal(sheet: Sheet, decision: ProposalAcceptance): Promise<StoredProposal> {
  const { parts = null } = decision
  checkParts(parts)
  const actor = resolveActor(sheet, decision.actor)
  const base = (await sheet.definition()).store.proposals
  const found = await base.get(decision.id)
  if (found?.kind === 'definition') {
    checkWaiting(found)
    checkNotOwn(found, actor)
    if (parts !== null) throw isWhole(found.id)
    const proposed = await base.definition(found.id)
    if (proposed === null) throw new Error('a proposal of the definition without its change')
    const { confirm = new Map<string, number>() } = decision
    await acceptDefinition(sheet, found, { proposed, actor, confirm })
    return proposalOf((await sheet.definition()).store, decision.id)
  }
  const { store } = await sheet.deriving()
  await store.proposals.accept({ id: decision.id, actor, parts })
  return proposalOf(store, decision.id)
}

/**
 * Rejects a proposal, or parts of it, and returns it; its proposer may reject it too, to withdraw it. Throws SheetError, ValidationError
 * and ConflictError as {@link acceptProposal} does, and OperationError for parts of a change of the definition.
 */
export async function rejectProposal(sheet: Sheet, rejection: ProposalRejection): Promise<StoredProposal> {
  const reason = checkText('reason', rejection.reason)
  const { id, parts = null } = rejection
  checkParts(parts)
  const actor = resolveActor(sheet, rejection.actor)
  const { store } = await sheet.current()
  if (parts !== null && (await store.proposals.get(id))?.kind === 'definition') throw isWhole(id)
  await store.proposals.reject({ id, actor, reason, parts })
  return proposalOf(store, id)
}

/** Throws ValidationError for a decision on no part. */
function checkParts(parts: readonly ProposalPart[] | null): void {
  if (parts === null) return
  if (parts.length === 0) {
    throw new ValidationError('cells is empty; name records of the proposal, or leave it out to decide all')
  }
  for (const { recordId, fields } of parts) {
    if (fields?.length !== 0) continue
    throw new ValidationError(
      `fields of record ${showValue(recordId)} is empty; name fields of the proposal, or leave it out to decide the record`,
    )
  }
}

function isWhole(id: ProposalId): OperationError {
  return new OperationError(
    `proposal ${id} changes the definition, and is decided as a whole; leave the cells out`,
    'invalid_operation',
  )
}

interface AcceptedDefinition {
  readonly proposed: ProposedDefinition
  readonly actor: string
  readonly confirm: ReadonlyMap<string, number>
}

async function acceptDefinition(
  sheet: Sheet,
  { id, proposedBy, note }: StoredProposal,
  { proposed, actor, confirm }: AcceptedDefinition,
): Promise<void> {
  try {
    await acceptProposed(sheet, proposed, { actor, note, confirm, proposal: { id, by: proposedBy } })
  } catch (error) {
    // Another person accepted it meanwhile: the files have its texts.
    if (error instanceof PreconditionFailedError) {
      checkWaiting(await proposalOf((await sheet.definition()).store, id))
    }
    throw error
  }
}

async function proposalOf({ proposals }: SheetStore, id: ProposalId): Promise<StoredProposal> {
  const proposal = await proposals.get(id)
  if (proposal === null) throw unknownProposal(id)
  return proposal
}

function unknownProposal(id: ProposalId): SheetError {
  return new SheetError(`no proposal ${showValue(id)}`, 'unknown_proposal')
}

/** Validates the shape of a change, before the actor is checked (D36). */
function checkChange(change: ProposedChange): void {
  if ('records' in change) {
    readBody({ body: { records: change.records }, defaultActor: null, actor: 'nobody', ifMatch: null })
  } else if ('ids' in change && change.ids.length === 0) {
    throw new ValidationError('ids is empty; give the ids of the records whose deletion is proposed')
  }
}

/** Returns a note or reason without blanks around it; null for a blank one. Throws ValidationError for one that is too long or not text. */
export function checkText(name: string, text: string | null): string | null {
  if (text === null || text.trim() === '') return null
  if (text.length > TEXT_LIMIT) {
    throw new ValidationError(`"${name}" has ${text.length} characters; it may have ${TEXT_LIMIT}`)
  }
  if (!text.isWellFormed() || text.includes('\0')) {
    throw new ValidationError(`"${name}" must not contain lone surrogates or U+0000`)
  }
  return text.trim()
}

function checkState(state: string | null): ProposalState | null {
  if (state === null || state === '') return null
  const known = PROPOSAL_STATES.find((one) => one === state)
  if (known !== undefined) return known
  throw new ValidationError(`state is ${showValue(state)}; expected ${PROPOSAL_STATES.join(', ')}`)
}

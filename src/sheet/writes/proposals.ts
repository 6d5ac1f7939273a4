import { showValue } from '../../contract/json/show-value.ts'
import { SheetError, ValidationError } from '../../errors/service-error.ts'
import type { SheetStore } from '../../store/sheet-store.ts'
import {
  PROPOSAL_STATES,
  type ProposalDetail,
  type ProposalId,
  type ProposalState,
  type ProposedChange,
  type StoredProposal,
} from '../../store/stored-proposal.ts'
import { readBody } from '../../store/rules/upsert-body.ts'
import { openCursor, signCursor } from '../cursor.ts'
import { pageLimit } from '../page-limit.ts'
import type { PageOptions } from '../runs/read-runs.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import type { Sheet } from '../sheet.ts'

export type { ProposalDetail, ProposedChange, StoredProposal } from '../../store/stored-proposal.ts'

export interface ProposeRequest {
  /** Records to insert or merge, or the ids of records to delete. */
  readonly change: ProposedChange
  /** Who proposes; the sheet's default actor when null. */
  readonly actor: GivenActor
  /** Why, for whoever decides; null or empty for none. */
  readonly note: string | null
}

export interface ProposalDecision {
  readonly id: ProposalId
  /** Who decides; the sheet's default actor when null. */
  readonly actor: GivenActor
}

export interface ProposalRejection extends ProposalDecision {
  /** Why, for whoever proposed; null or empty for none. */
  readonly reason: string | null
}

export interface ProposalListQuery extends PageOptions {
  /** Only those that are `waiting`, `accepted` or `rejected`; null for all. */
  readonly state: string | null
}

export interface ProposalList {
  readonly proposals: readonly StoredProposal[]
  /** How many wait, whatever is asked for. */
  readonly waiting: number
  readonly nextCursor: string | null
}

/** Proposals on a page, at most: with notes and reasons as long as they may be, they take several MiB. */
const MOST_ON_PAGE = 1000

/** How long a note and a reason may be, in UTF-16 units. */
export const TEXT_LIMIT = 2000

/**
 * Writes down a change that waits until somebody else accepts it, and answers with the proposal. The proposer need not be
 * allowed to write what it proposes. Throws the ValidationError that the write would, OperationError for a change that
 * changes nothing, ConflictError when too many proposals wait.
 */
export async function propose(sheet: Sheet, request: ProposeRequest): Promise<StoredProposal> {
  const { change } = request
  checkChange(change)
  const note = checkText('note', request.note)
  const actor = resolveActor(sheet, request.actor)
  const { store } = await sheet.deriving()
  return proposalOf(store, await store.proposals.propose({ change, actor, note }))
}

/** Proposals, newest first, at most 1,000 at a time. Throws ValidationError for a bad state, limit or cursor. */
export async function listProposals(sheet: Sheet, query: ProposalListQuery): Promise<ProposalList> {
  const limit = Math.min(pageLimit(query.limit), MOST_ON_PAGE)
  const state = checkState(query.state)
  const { store } = await sheet.current()
  const scope = `proposals ${state ?? ''}`
  const before = query.cursor === null ? null : String(openCursor(store.cursorKey, query.cursor, scope))
  // One more than asked for tells whether another page follows.
  const found = await store.proposals.list({ state, before, limit: limit + 1 })
  const proposals = found.slice(0, limit)
  const last = found.length > limit ? proposals.at(-1) : undefined
  return {
    proposals,
    waiting: (await store.proposals.counts()).waiting,
    nextCursor: last === undefined ? null : signCursor(store.cursorKey, Number(last.id), scope),
  }
}

/** A proposal with its differences to the records as they are now. Throws SheetError for an unknown one. */
export async function getProposal(sheet: Sheet, id: ProposalId): Promise<ProposalDetail> {
  const { store } = await sheet.current()
  const proposal = await store.proposals.detail(id)
  if (proposal === null) throw unknownProposal(id)
  return proposal
}

/**
 * Makes the change that was proposed, and answers with the proposal. The accepter writes, so it must be allowed to, and
 * nobody accepts what they proposed themselves. Throws SheetError for an unknown proposal; ConflictError for one that is
 * decided, or whose records have moved in a field that it touches, which then still waits; PermissionDeniedError and
 * ValidationError as the write does.
 */
export async function acceptProposal(sheet: Sheet, decision: ProposalDecision): Promise<StoredProposal> {
  const actor = resolveActor(sheet, decision.actor)
  const { store } = await sheet.deriving()
  await store.proposals.accept({ id: decision.id, actor })
  return proposalOf(store, decision.id)
}

/**
 * Decides against a proposal, and answers with it; its proposer may, to take it back. Throws SheetError for an unknown
 * one, ConflictError for one that is decided.
 */
export async function rejectProposal(sheet: Sheet, rejection: ProposalRejection): Promise<StoredProposal> {
  const reason = checkText('reason', rejection.reason)
  const actor = resolveActor(sheet, rejection.actor)
  const { store } = await sheet.current()
  await store.proposals.reject({ id: rejection.id, actor, reason })
  return proposalOf(store, rejection.id)
}

async function proposalOf({ proposals }: SheetStore, id: ProposalId): Promise<StoredProposal> {
  const proposal = await proposals.get(id)
  if (proposal === null) throw unknownProposal(id)
  return proposal
}

function unknownProposal(id: ProposalId): SheetError {
  return new SheetError(`no proposal ${showValue(id)}`, 'unknown_proposal')
}

/** The shape of a change comes before the actor (D36). */
function checkChange(change: ProposedChange): void {
  if ('records' in change) {
    readBody({ body: { records: change.records }, defaultActor: null, actor: 'nobody', ifMatch: null })
  } else if (change.ids.length === 0) {
    throw new ValidationError('ids is empty; it has the ids of the records whose deletion is proposed')
  }
}

function checkText(name: string, text: string | null): string | null {
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

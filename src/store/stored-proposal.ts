import type { JsonObject, JsonValue } from '../contract/json/json.ts'
import type { RecordKey } from './cell-work.ts'

/** Decimal digits of a number that counts up, and goes on counting when a store is made anew beside its log. */
export type ProposalId = string

export const PROPOSAL_STATES = ['waiting', 'accepted', 'rejected'] as const

export type ProposalState = (typeof PROPOSAL_STATES)[number]

/** What is proposed: to insert or merge these records, as an upsert would (D13), or to delete what exists of these ids. */
export type ProposedChange = { readonly records: readonly JsonObject[] } | { readonly ids: readonly string[] }

export interface NewProposal {
  readonly change: ProposedChange
  /** Who proposes. */
  readonly actor: string
  /** Why, in the words of the proposer. */
  readonly note: string | null
}

/** A proposal as the store knows it. */
export interface StoredProposal {
  readonly id: ProposalId
  readonly kind: 'upsert' | 'delete'
  readonly state: ProposalState
  readonly proposedBy: string
  /** UTC with milliseconds and `Z`. */
  readonly proposedAt: string
  readonly note: string | null
  /** How many records it is about. */
  readonly recordCount: number
  /** Who accepted or rejected it, and when; null while it waits. */
  readonly decidedBy: string | null
  readonly decidedAt: string | null
  /** Why it was rejected, in the words of who did. */
  readonly reason: string | null
}

/**
 * How a record has moved since a change of it was proposed: one that was to be created exists by now, one that was there
 * is gone, or gone and created again, or has another value in a field that the proposal touches.
 */
export type RecordMove = 'created' | 'deleted' | 'recreated' | 'changed'

/** What a proposal does to one field. */
export interface FieldDifference {
  readonly field: string
  /** The value when it was proposed. */
  readonly was: JsonValue
  /** The value that the field has now. */
  readonly now: JsonValue
  readonly proposed: JsonValue
  /** Whether it has another value now than then, which keeps the proposal from being accepted. */
  readonly moved: boolean
}

/** What a proposal does to one record. */
export interface RecordDifference {
  readonly recordId: string
  readonly change: 'create' | 'update' | 'delete'
  /** The version that the record had when it was proposed; null when it did not exist. */
  readonly version: string | null
  /** Null when nothing of it has moved, and for a proposal that does not wait any more. */
  readonly moved: RecordMove | null
  /** The fields that the proposal touches, in the contract's order; of a deletion those that have values. */
  readonly fields: readonly FieldDifference[]
}

/** A proposal with all that it does. */
export interface ProposalDetail extends StoredProposal {
  readonly records: readonly RecordDifference[]
}

export interface ProposalsQuery {
  /** Only those in this state; null for all. */
  readonly state: ProposalState | null
  /** The id of the last one seen. */
  readonly before: ProposalId | null
  readonly limit: number
}

export interface ProposalCounts {
  /** How many wait. */
  readonly waiting: number
  /** Counts up whenever one is made, accepted or rejected. */
  readonly changes: number
}

/** A proposal, and who decides on it. */
export interface ProposalDecision {
  readonly id: ProposalId
  readonly actor: string
}

export interface ProposalRejection extends ProposalDecision {
  readonly reason: string | null
}

/** How much may be proposed. */
export const PROPOSAL_LIMITS = {
  /** Records of a proposal. */
  records: 1000,
  /** Bytes of what a proposal says, and of the values that it is about. */
  bytes: 4 << 20,
  /** Proposals that wait. */
  waiting: 1000,
  /** Bytes of all that wait. */
  waitingBytes: 64 << 20,
} as const

/** Writes that wait for a person, in the store whose records they would change. */
export interface ProposalStore {
  /**
   * Writes down a change that waits for a decision, and answers with its id. It is tried as a write first, but for what
   * the proposer may write: throws the ValidationError that the write would. Records, and fields, that the change leaves as
   * they are are left out of it; throws OperationError when nothing is left, ValidationError for one that is too large,
   * and ConflictError when too many wait.
   */
  propose(proposal: NewProposal): Promise<ProposalId>
  /**
   * Makes the proposed change as whoever accepts it, in one transaction with the decision. Throws SheetError for an
   * unknown proposal; ConflictError, and leaves it waiting, when a record that it touches has moved, and for one that is
   * decided; PermissionDeniedError to its proposer; then what the write does.
   */
  accept(decision: ProposalDecision): Promise<void>
  /** Decides against a proposal. Throws SheetError for an unknown one, ConflictError for one that is decided. */
  reject(rejection: ProposalRejection): Promise<void>
  get(id: ProposalId): Promise<StoredProposal | null>
  /** A proposal with its differences to the records as they are now. */
  detail(id: ProposalId): Promise<ProposalDetail | null>
  /** Proposals, newest first. */
  list(query: ProposalsQuery): Promise<readonly StoredProposal[]>
  counts(): Promise<ProposalCounts>
}

/** The change of one record in a proposal, as the store keeps it. */
export interface ProposedRecord {
  readonly recordId: string
  /** The key and the version that the record had when it was proposed; null when it did not exist. */
  readonly key: RecordKey | null
  readonly version: string | null
  /** The values of the touched fields then; of a deletion those of all that had one. */
  readonly was: JsonObject
  /** The values that are proposed; null for a deletion. */
  readonly change: JsonObject | null
}

/** The proposals that wait for a decision: their number and their bytes. */
export interface WaitingProposals {
  readonly waiting: number
  readonly bytes: number
}

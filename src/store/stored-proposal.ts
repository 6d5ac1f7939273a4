import type { JsonObject, JsonValue } from '../contract/json/json.ts'
import type { RecordKey } from './cell-work.ts'

/** Decimal digits of an ascending number, which continues from the log when a store is recreated. */
export type ProposalId = string

export const PROPOSAL_STATES = ['waiting', 'accepted', 'rejected'] as const

export type ProposalState = (typeof PROPOSAL_STATES)[number]

export type Decision = Exclude<ProposalState, 'waiting'>

/**
 * The decisions on parts of a proposed record, by field: `id` stands for the record, where it is to be deleted, or created
 * without values.
 */
export type PartDecisions = Readonly<Record<string, Decision>>

/** A part of a proposal: these fields of a record; null for all of its fields. */
export interface ProposalPart {
  readonly recordId: string
  readonly fields: readonly string[] | null
}

/** A decision on a proposal, or on a part of it. */
export interface MadeDecision {
  readonly state: Decision
  readonly by: string
  /** UTC with milliseconds and `Z`. */
  readonly at: string
  /** The reason of a rejection, in the words of the actor. */
  readonly reason: string | null
}

/**
 * The proposed change: to insert or merge these records, as an upsert would (D13), or to delete the existing ones of these
 * ids; or to change the definition.
 */
export type ProposedChange =
  | { readonly records: readonly JsonObject[] }
  | { readonly ids: readonly string[] }
  | { readonly definition: ProposedDefinition }

/** A proposed change of the definition, as plain JSON. */
export interface ProposedDefinition {
  readonly files: readonly ProposedFile[]
  /** The changes of fields that it requests, as entries of {@link FieldChanges}; null for none. */
  readonly changes: ProposedFieldChanges | null
  /** The id of the change that it takes back; null for none. */
  readonly reverts: string | null
}

/** The new text of a definition file, and its text when it was proposed; null where there is no such file. */
export interface ProposedFile {
  readonly path: string
  readonly before: string | null
  readonly after: string | null
}

export interface ProposedFieldChanges {
  readonly renamed: readonly (readonly [string, string])[]
  readonly removed: readonly (readonly [string, number | null])[]
  readonly converted: readonly (readonly [string, 'refuse' | 'null'])[]
  readonly restored: readonly (readonly [string, number])[]
}

export interface NewProposal {
  readonly change: ProposedChange
  readonly actor: string
  /** The reason, in the words of the proposer. */
  readonly note: string | null
}

export interface StoredProposal {
  readonly id: ProposalId
  readonly kind: 'upsert' | 'delete' | 'definition'
  /** A proposal waits while a part of it does; then it is accepted where any part was. */
  readonly state: ProposalState
  readonly proposedBy: string
  /** UTC with milliseconds and `Z`. */
  readonly proposedAt: string
  readonly note: string | null
  readonly recordCount: number
  /** The actor who made the last decision, and the time; null while it waits. */
  readonly decidedBy: string | null
  readonly decidedAt: string | null
  /** The reason of a rejection, in the words of the actor. */
  readonly reason: string | null
}

/**
 * The change of a record since its proposal: one to be created exists by now, an existing one is deleted, or deleted and
 * recreated, or has another value in a field of the proposal.
 */
export type RecordMove = 'created' | 'deleted' | 'recreated' | 'changed'

/** The change that a proposal makes to one field. */
export interface FieldDifference {
  readonly field: string
  /** The value when it was proposed. */
  readonly was: JsonValue
  /** The present value. */
  readonly now: JsonValue
  readonly proposed: JsonValue
  /** Whether the value has changed since the proposal, which then cannot be accepted; false once it is decided. */
  readonly moved: boolean
  /** Null while it waits. */
  readonly decision: Decision | null
}

/** The change that a proposal makes to one record. */
export interface RecordDifference {
  readonly recordId: string
  readonly change: 'create' | 'update' | 'delete'
  /** The version that the record had when it was proposed; null when it did not exist. */
  readonly version: string | null
  /** Null when the record has not changed since in a part that waits. */
  readonly moved: RecordMove | null
  /** Null while a part of it waits; accepted where any part was. */
  readonly decision: Decision | null
  /** The fields of the proposal, in the contract's order; of a deletion those that have values. */
  readonly fields: readonly FieldDifference[]
}

/** A proposal with its changes. */
export interface ProposalDetail extends StoredProposal {
  readonly records: readonly RecordDifference[]
  /** In their order. */
  readonly decisions: readonly MadeDecision[]
}

/** A cell for which a proposal waits. */
export interface ProposedCell {
  readonly recordId: string
  /** Null where the record is to be deleted. */
  readonly field: string | null
  readonly proposal: ProposalId
  readonly proposedBy: string
  /** The proposed value; undefined for a long one. */
  readonly value: JsonValue | undefined
}

export interface ProposalsQuery {
  /** Only those in this state; null for all. */
  readonly state: ProposalState | null
  /** The id of the last proposal of the previous page; null for the first page. */
  readonly before: ProposalId | null
  readonly limit: number
}

export interface ProposalCounts {
  readonly waiting: number
  /** Increases whenever a proposal is made, accepted or rejected. */
  readonly changes: number
}

/** A proposal and the actor who decides on it. */
export interface ProposalDecision {
  readonly id: ProposalId
  readonly actor: string
  /** The parts that are decided, and the others wait; null or absent for all that waits. */
  readonly parts?: readonly ProposalPart[] | null
}

export interface ProposalRejection extends ProposalDecision {
  readonly reason: string | null
}

export const PROPOSAL_LIMITS = {
  /** Records of a proposal. */
  records: 1000,
  /** Bytes of a proposal, and of the values that it replaces. */
  bytes: 4 << 20,
  /** Waiting proposals. */
  waiting: 1000,
  /** Bytes of all waiting proposals. */
  waitingBytes: 64 << 20,
} as const

/** Writes that wait for a decision, in the store whose records they would change. */
export interface ProposalStore {
  /**
   * Stores a change that waits for a decision, and returns its id. It is tried as a write first, without the permissions of
   * the proposer: throws the ValidationError of the write. Records and fields that would not change are left out; throws
   * OperationError when nothing is left, ValidationError for a proposal that is too large, and ConflictError when too many
   * wait.
   */
  propose(proposal: NewProposal): Promise<ProposalId>
  /**
   * Makes the proposed change, or parts of it, as the actor who accepts it, in one transaction with the decision. Throws SheetError for an
   * unknown proposal, and for a record that it does not have; ValidationError for a field that it does not have; ConflictError, and leaves
   * it waiting, when one of the records has changed since in what is accepted; ConflictError for what is
   * decided; PermissionDeniedError to its proposer; then the errors of the write. Not for a proposed change of the definition,
   * which is accepted with the change: see `DefinitionChange.proposal`.
   */
  accept(decision: ProposalDecision): Promise<void>
  /** Rejects a proposal, or parts of it. Throws SheetError, ValidationError and ConflictError as {@link accept} does. */
  reject(rejection: ProposalRejection): Promise<void>
  get(id: ProposalId): Promise<StoredProposal | null>
  /** Returns the proposed change of the definition; null for a change of records, and for an unknown id. */
  definition(id: ProposalId): Promise<ProposedDefinition | null>
  /** Returns a proposal with its differences to the present records; null for an unknown id. */
  detail(id: ProposalId): Promise<ProposalDetail | null>
  /**
   * Returns the cells of these records for which proposals wait, those of the newest proposal first: of at most 1,000 changes of
   * records.
   */
  cells(recordIds: readonly string[]): Promise<readonly ProposedCell[]>
  /** Returns proposals, newest first. */
  list(query: ProposalsQuery): Promise<readonly StoredProposal[]>
  counts(): Promise<ProposalCounts>
}

/** The change of one record in a proposal, as the store keeps it. */
export interface ProposedRecord {
  readonly recordId: string
  /** The key and the version that the record had when it was proposed; null when it did not exist. */
  readonly key: RecordKey | null
  readonly version: string | null
  /** The values of its fields at that time; of a deletion those of all fields with one. */
  readonly was: JsonObject
  /** The proposed values; null for a deletion. */
  readonly change: JsonObject | null
  readonly decided: PartDecisions
}

/** The proposals that wait for a decision: their number and their bytes. */
export interface WaitingProposals {
  readonly waiting: number
  readonly bytes: number
}

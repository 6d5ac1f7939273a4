import type { SetAside } from '../../../provenance/set-aside.ts'
import type { CellCommit, CellOutcome } from '../../cell-work.ts'
import type {
  DeleteResult,
  RestoreRequest,
  RestoreResult,
  RevertRequest,
  RevertResult,
  TargetDefinition,
  Upsert,
  UpsertResult,
  UpsertTrial,
} from '../../sheet-store.ts'
import type { NewProposal, ProposalDecision, ProposalId, ProposalRejection } from '../../stored-proposal.ts'
import type { ResponseTrim, TrimResult } from '../../stored-responses.ts'
import type { NewRun, PruneStep, RunEnd, RunId, RunPruning } from '../../stored-run.ts'
import type { DeleteRequest } from '../../rules/delete-records.ts'
import type { RunBeginText, RunNote } from './run-writer.ts'
import type { ThreadAnswer, ThreadRequest } from '../database/thread-client.ts'

/** What the store's writing thread can be asked to do, and with what. */
export interface WriterOperations {
  open(request: OpenRequest): OpenResult
  define(request: DefineRequest): null
  upsert(request: Upsert): UpsertResult
  tryUpsert(request: Upsert): UpsertTrial
  delete(request: DeleteRequest): DeleteResult
  /** {@link commitText} of a `CellCommit`. */
  commitCells(request: string): readonly CellOutcome[]
  revert(request: RevertRequest): RevertResult
  restore(request: RestoreRequest): RestoreResult
  propose(request: ProposeRequest): ProposalId
  acceptProposal(request: ProposalDecision): void
  rejectProposal(request: ProposalRejection): void
  trimResponses(request: ResponseTrim): TrimResult
  limitResponses(bytes: number): TrimResult
  startRun(request: NewRun): RunId
  runLocked(request: RunNote<RunBeginText>): null
  endRun(request: RunNote<RunEnd>): null
  noteCalls(request: RunNote<CellCommit['progress']>): null
  keepWaiting(request: RunNote<number>): null
  requestCancel(request: RunNote<string>): number
  interruptRuns(except: RunId | null): null
  pruneRuns(which: RunPruning): PruneStep
  close(request: null): null
}

/** A proposal with its change as JSON text, which crosses several times as fast. */
export type ProposeRequest = Omit<NewProposal, 'change'> & { readonly change: string }

export interface DefineRequest {
  readonly contractText: string
  /** Null leaves the derived fields as they are. */
  readonly targets: readonly TargetDefinition[] | null
}

export interface OpenRequest extends DefineRequest {
  readonly directory: string
  /** Who imports `records.jsonl`, should it come to that. */
  readonly actor: string
  readonly lockTimeoutMs: number
}

export interface OpenResult {
  readonly cursorKey: Uint8Array
  /** Whether `records.jsonl` is another file than the one that was imported (D2). */
  readonly sourceDiffers: boolean
}

export type WriterOperation = keyof WriterOperations

/** A request to the writing thread. */
export type WriterRequest = ThreadRequest<WriterOperation>

/** What the writing thread posts: responses, those of one commit together, or that it moved lines that the store does not have out of the log. */
export type WriterMessage = readonly ThreadAnswer[] | { readonly setAside: SetAside }

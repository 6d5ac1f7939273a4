import type { CallResults, CellCommit, CellOutcome, OutdatedCells } from '../../cell-work.ts'
import { acceptProposal, rejectProposal } from '../../rules/decide-proposal.ts'
import { addNodes } from '../../rules/log/add-checkpoint.ts'
import { deleteRecords, type DeleteRequest } from '../../rules/delete-records.ts'
import { markOutdated } from '../../rules/mark-outdated.ts'
import { propose } from '../../rules/propose.ts'
import { pruneRuns } from '../../rules/prune-runs.ts'
import { restore } from '../../rules/restore.ts'
import { revert } from '../../rules/revert.ts'
import { review, type ReviewResult } from '../../rules/review.ts'
import { runSync } from '../../rules/steps.ts'
import { upsert } from '../../rules/upsert.ts'
import { CHARTS, VIEWS, type NamedKind } from '../../rules/named/named-kinds.ts'
import { deleteNamed, saveNamed, type AnyKind } from '../../rules/named/saved-named.ts'
import { readBody } from '../../rules/upsert-body.ts'
import { requestCancel } from '../../rows/run-updates.ts'
import type {
  DeleteResult,
  RestoreRequest,
  RestoreResult,
  RevertRequest,
  RevertResult,
  Upsert,
  UpsertResult,
} from '../../sheet-store.ts'
import type {
  NewProposal,
  ProposalDecision,
  ProposalId,
  ProposalRejection,
  ProposedChange,
} from '../../stored-proposal.ts'
import type { TreeNode } from '../../log-tree-store.ts'
import type { ReviewRequest } from '../../stored-review.ts'
import type { SavedNamed } from '../../named/named-store.ts'
import type { ResponseTrim, TrimResult } from '../../stored-responses.ts'
import type { NewRun, PruneStep, RunEnd, RunId, RunPruning } from '../../stored-run.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import { commitCells, storeResults } from './commit-cells.ts'
import { readCommit } from './commit-text.ts'
import { limitResponses, trimResponses } from './response-writer.ts'
import {
  beginRun,
  endRun,
  interruptRuns,
  keepWaiting,
  noteCalls,
  startRun,
  type RunBeginText,
  type RunNote,
} from './run-writer.ts'

/** A proposal with its change as JSON text, which is several times as fast to send to the thread. */
type ProposeRequest = Omit<NewProposal, 'change'> & { readonly change: string }

type Noun = NamedKind<unknown>['noun']

interface SaveNamed {
  readonly noun: Noun
  readonly named: SavedNamed<unknown>
}

interface DeleteNamed {
  readonly noun: Noun
  readonly id: string
}

const KINDS: Readonly<Record<Noun, AnyKind>> = { view: VIEWS, chart: CHARTS }

/**
 * The operations of the writing thread that share transactions, by the names by which other threads call them. Each has one
 * argument beside the change set.
 */
export const CHANGES = {
  upsert: (change: ChangeSet, request: Upsert): UpsertResult =>
    runSync(upsert(change, readBody(request), request)),
  delete: (change: ChangeSet, request: DeleteRequest): DeleteResult =>
    runSync(deleteRecords(change, request)),
  /** Takes the `commitText` of a `CellCommit`. */
  commitCells: (change: ChangeSet, commit: string): readonly CellOutcome[] =>
    commitCells(change, readCommit(commit)),
  storeResults: (change: ChangeSet, results: CallResults): void => storeResults(change, results),
  markOutdated: (change: ChangeSet, outdated: OutdatedCells): void => runSync(markOutdated(change, outdated)),
  revert: (change: ChangeSet, request: RevertRequest): RevertResult => runSync(revert(change, request)),
  restore: (change: ChangeSet, request: RestoreRequest): RestoreResult => runSync(restore(change, request)),
  review: (change: ChangeSet, request: ReviewRequest): ReviewResult => runSync(review(change, request)),
  propose: (change: ChangeSet, { change: text, ...proposal }: ProposeRequest): ProposalId =>
    runSync(propose(change, { ...proposal, change: JSON.parse(text) as ProposedChange })),
  acceptProposal: (change: ChangeSet, decision: ProposalDecision): void =>
    runSync(acceptProposal(change, decision)),
  rejectProposal: (change: ChangeSet, rejection: ProposalRejection): void =>
    runSync(rejectProposal(change, rejection)),
  saveNamed: (change: ChangeSet, { noun, named }: SaveNamed): string =>
    runSync(saveNamed(change, KINDS[noun], named)),
  deleteNamed: (change: ChangeSet, { noun, id }: DeleteNamed): void =>
    runSync(deleteNamed(change, KINDS[noun], id)),
  addNodes: (change: ChangeSet, nodes: readonly TreeNode[]): void => runSync(addNodes(change, nodes)),
  trimResponses: (change: ChangeSet, which: ResponseTrim): TrimResult => trimResponses(change, which),
  limitResponses: (change: ChangeSet, bytes: number): TrimResult => limitResponses(change, bytes),
  startRun: (change: ChangeSet, run: NewRun): RunId => startRun(change, run),
  runLocked: (change: ChangeSet, begin: RunNote<RunBeginText>): void => beginRun(change, begin),
  endRun: (change: ChangeSet, end: RunNote<RunEnd>): void => endRun(change, end),
  noteCalls: (change: ChangeSet, progress: RunNote<CellCommit['progress']>): void =>
    noteCalls(change, progress),
  keepWaiting: (change: ChangeSet, silentMs: RunNote<number>): void => keepWaiting(change, silentMs),
  requestCancel: ({ db }: ChangeSet, { id, note: actor }: RunNote<string>): void => {
    db.change(requestCancel(id, actor))
  },
  interruptRuns: (change: ChangeSet, except: RunId | null): void => interruptRuns(change, except),
  pruneRuns: ({ db }: ChangeSet, which: RunPruning): PruneStep => runSync(pruneRuns(db, which)),
}

/** The same operations as other threads call them. */
export type Changes = {
  [Name in keyof typeof CHANGES]: (
    argument: Parameters<(typeof CHANGES)[Name]>[1],
  ) => ReturnType<(typeof CHANGES)[Name]>
}

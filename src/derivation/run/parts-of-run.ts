import type { FailureStreak } from '../failure-streak.ts'
import type { Budget } from '../plan/budget.ts'
import type { Planner } from '../plan/planner.ts'
import type { RunRequest, SharedCalls } from '../run-request.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { ReusedResponses } from './reused-responses.ts'
import type { Tally } from './tally.ts'
import type { UnusableCells } from './unusable-cells.ts'

/** The parts of a run that its derivations share. */
export interface PartsOfRun {
  readonly planner: Planner
  readonly budget: Budget
  readonly tally: Tally
  readonly commits: CommitQueue
  readonly unusable: UnusableCells
  /** The calls that processes share; absent where one process makes all. */
  readonly calls?: SharedCalls | undefined
  /** The responses that are used instead of calls; absent where every call is made. */
  readonly reuse?: ReusedResponses | undefined
  readonly settled?: RunRequest['settled']
  /** The failures of the run in a row; no new call starts once they stop it. */
  readonly streak: FailureStreak
  /** Aborted when the run is stopped or breaks: no new call starts, calls under way are aborted. */
  readonly signal: AbortSignal
  /** Ends the run. */
  onFault(error: unknown): void
}

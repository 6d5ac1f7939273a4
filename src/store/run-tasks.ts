import type { CellCommit, CellOutcome, RecordKey, WorkItem, WorkQuery, SettledCall } from './cell-work.ts'
import type { RunEnd, RunError, RunId, RunLock } from './stored-run.ts'

/** A part of a run: the cells of some records that one derivation computes. */
export interface RunTask {
  readonly run: RunId
  /** Name of the derivation file, and hex SHA-256 of its bytes when the task was created. */
  readonly derivation: string
  readonly sha256: string
  /** Ascending; null for all with pending cells. */
  readonly records: readonly RecordKey[] | null
  /** The last record of the run: later ones are not part of it. */
  readonly lastKey: RecordKey
  /** The seq of the last provenance entry when the run began. */
  readonly lastSeq: number
  /** Whether the run has bounds on its calls. */
  readonly bounded: boolean
}

/** A task held by a worker. Once it has been given to another, no results of this worker are stored. */
export interface TakenTask extends RunTask {
  readonly job: string
  /** Number of earlier times that the task was taken. */
  readonly attempt: number
}

/** The scope of a run, determined when it began. */
export interface RunPlace {
  /** The last record of the run: later ones are not part of it. */
  readonly lastKey: RecordKey
  /** The seq of the last provenance entry when the run began. */
  readonly lastSeq: number
  /** The records of the run, ascending; null for all that its request names. */
  readonly records: readonly RecordKey[] | null
  /** Number of levels that have been divided into tasks. */
  readonly levels: number
}

/** The state of the tasks of a run. */
export interface TasksState {
  /** Number of tasks that are not settled. */
  readonly open: number
  /** Number of these that a worker holds. */
  readonly held: number
  /** The error of a task, which fails the run; null for none. */
  readonly error: RunError | null
}

/**
 * The claim to a call: `mine` the caller makes it, `other` another task makes it, or calls in progress may cost less than
 * is reserved for them and leave money for it, `none-left` the bounds of the run forbid it.
 */
export type CallClaim = 'mine' | 'other' | 'none-left' | SettledCall

export interface CallToClaim {
  readonly hash: string
  /** Dollars. */
  readonly price: number
}

/** Another process has the task or the run lock, or the run has ended: nothing was stored. */
export class TaskLostError extends Error {
  constructor(what = 'the task') {
    super(`${what} is not held any more`)
  }
}

/**
 * Coordination of runs for stores that several processes share: the process with the run lock divides a run into tasks and
 * waits; all processes compute. A process that stops without notice loses its tasks to others after {@link LEASE_MS}.
 */
export interface RunTasks {
  /** Stores the scope of a run, before any task is created. */
  begin(run: RunId, place: Omit<RunPlace, 'levels'>): Promise<void>
  /** Returns the scope of a run; null when it has not begun. */
  place(run: RunId): Promise<RunPlace | null>
  /** Returns the keys of records with pending cells of a derivation, ascending. */
  workKeys(query: Omit<WorkQuery, 'inputs'>): Promise<readonly RecordKey[]>
  /** Adds the tasks of the next level, from 0 on, all or none. */
  addLevel(run: RunId, level: number, cut: LevelCut): Promise<void>
  /** Gives tasks of lost workers to others, and returns the state of the run's tasks. */
  state(run: RunId): Promise<TasksState>
  /**
   * Sends the heartbeat of the coordinator, which has the run lock; when it stops, others take the run over. Throws
   * {@link TaskLostError} when the lock is lost.
   */
  heartbeat(run: RunId, lock: RunLock): Promise<void>
  /** Releases the run, so that another process takes it over at once, unless one has already. */
  handOver(run: RunId, lock: RunLock): Promise<void>
  /** Stops the tasks of the run in all processes. */
  stop(run: RunId): Promise<void>
  /** Whether a run continues: false when it has been stopped or cancelled, or has ended. */
  continues(run: RunId): Promise<boolean>
  /** Deletes the tasks of a run; processes that compute one lose it. */
  end(run: RunId): Promise<void>
  /**
   * Begins a run that waits for the run lock, or continues one that has begun, for the holder of the lock. With
   * `orphaned` a waiting run is claimed only if its heartbeat has stopped. Returns false when the run has ended or
   * still has its process: then it must not be executed.
   */
  claim(run: RunId, about: { readonly orphaned: boolean }): Promise<boolean>
  /** Releases a run that waits for the run lock to other processes, at once. */
  leaveWaiting(run: RunId): Promise<void>
  /**
   * Stores how a run ended that waits for the run lock. Returns false, and stores nothing, when another process has
   * claimed or ended it.
   */
  endWaiting(run: RunId, end: RunEnd): Promise<boolean>
  /**
   * Returns an orphaned run: first those that have begun, then the first accepted of those accepted before the run
   * `before`. While the caller has the run lock, every run that has begun is orphaned; otherwise those whose heartbeat
   * has stopped.
   */
  orphan(about: { readonly hasLock: boolean; readonly before: RunId | null }): Promise<OrphanedRun | null>
  /** Breaks the run lock of a process whose heartbeat has stopped, so that an orphaned run can be taken over. */
  breakLock(orphan: OrphanedRun): Promise<void>

  /** Registers a worker, or renews it; it computes tasks of all runs (`local`: only until another worker does). */
  present(worker: string, about: { readonly name: string; readonly local: boolean }): Promise<void>
  /** Removes a worker; its tasks are given to others at once. */
  leave(worker: string): Promise<void>
  /** Returns the number of workers without local ones. */
  workers(): Promise<number>
  /**
   * Returns up to `limit` tasks, which the worker holds from now on. Others of its tasks that are not among `held` are
   * given to others.
   */
  take(worker: string, limit: number, held: readonly TakenTask[]): Promise<readonly TakenTask[]>
  /** Settles a task, if it is still held. */
  settle(task: TakenTask, error: RunError | null): Promise<void>
  /**
   * Stores the results of a task for some cells, as `SheetStore.commitCells`, but with the increase of `progress`. Throws
   * {@link TaskLostError}.
   */
  commitCells(task: TakenTask, commit: CellCommit): Promise<readonly CellOutcome[]>
  /** Stores the increase of progress by calls without results so far. */
  noteCalls(task: TakenTask, progress: CellCommit['progress']): Promise<void>
  /**
   * Adds the outcomes of a process' calls to the consecutive failures of a run; returns the totals of the hosts at which
   * calls failed, by host.
   */
  noteStreaks(run: RunId, notes: readonly StreakNote[]): Promise<ReadonlyMap<string, number>>
  /** Returns the cells, by target, that the run has computed or failed for records of a task that was taken before. */
  settledCells(
    task: TakenTask,
    items: readonly WorkItem[],
  ): Promise<ReadonlyMap<RecordKey, ReadonlySet<string>>>
  /** Claims calls; those with equal hashes are made once in a run. */
  claimCalls(task: TakenTask, calls: readonly CallToClaim[]): Promise<ReadonlyMap<string, CallClaim>>
  /** Releases claimed calls without a result; calls that were sent (`wasSent`) count towards the bounds nevertheless. */
  releaseCalls(task: TakenTask, calls: readonly CallToClaim[], wasSent: boolean): Promise<void>
  /** Replaces the price of a claimed call by its actual cost, in dollars: 0 where it failed before it was sent. */
  settleCall(task: TakenTask, call: CallToClaim, cost: number): Promise<void>

  close(): Promise<void>
}

/** The outcomes of a process' calls to a host since its last note. */
export interface StreakNote {
  readonly host: string
  /** Failures since the last success, or since the last note. */
  readonly failures: number
  /** Whether a call has succeeded, before the failures if there are any. */
  readonly succeeded: boolean
}

/** A run without a process. */
export interface OrphanedRun {
  readonly id: RunId
  /** Whether it waited for the run lock. */
  readonly waits: boolean
}

export interface LevelCut {
  /**
   * Yields the tasks, from the first one at each call: what was added is rolled back when the connection is lost, and then
   * added again.
   */
  tasks(): AsyncIterable<readonly Omit<RunTask, 'run'>[]>
  /** Number of cells of the level that are skipped as they are not pending. */
  readonly idle: number
}

/** Milliseconds after its last heartbeat at which a process counts as lost. */
export const LEASE_MS = 6000

/** Milliseconds between heartbeats. */
export const HEARTBEAT_MS = 1000

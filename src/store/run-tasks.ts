import type { ErrorType } from '../errors/codes.ts'
import type { CellCommit, CellOutcome, RecordKey, WorkItem, WorkQuery, SettledCall } from './cell-work.ts'
import type { RunEnd, RunId, RunLock } from './stored-run.ts'

/** A piece of a run: the cells of some records that one derivation computes. */
export interface RunTask {
  readonly run: RunId
  /** Name of the derivation file, and hex SHA-256 of its bytes when the run was cut. */
  readonly derivation: string
  readonly sha256: string
  /** Ascending; null for all that there is work for. */
  readonly records: readonly RecordKey[] | null
  /** No record that came later is part of it. */
  readonly lastKey: RecordKey
  /** Of the last provenance entry when the run began. */
  readonly lastSeq: number
  /** Whether the run has bounds, which its calls have to keep to. */
  readonly bounded: boolean
}

/** A task that a worker has. Once it has been given to another, nothing that comes of it is stored any more. */
export interface TakenTask extends RunTask {
  readonly job: string
  /** How often the task was taken before. */
  readonly attempt: number
}

/** What a run was found to be about when it began. */
export interface RunPlace {
  /** No record that came later is part of it. */
  readonly lastKey: RecordKey
  /** Of the last provenance entry when the run began. */
  readonly lastSeq: number
  /** The records that it goes through, ascending; null for all that its order names. */
  readonly records: readonly RecordKey[] | null
  /** How many levels have been cut into tasks. */
  readonly levels: number
}

/** How the tasks of a run stand. */
export interface TasksState {
  /** How many have not been settled. */
  readonly open: number
  /** How many of these some worker has. */
  readonly held: number
  /** What broke one of them, and breaks the run; null when nothing did. */
  readonly error: TaskError | null
}

export interface TaskError {
  /** `RunStopped`: calls failed in a row. */
  readonly type: ErrorType | 'RunStopped'
  readonly message: string
}

/** Who makes a call: `mine` whoever asked, `other` somebody else at the moment, `none-left` nobody, by the bounds of the run. */
export type CallClaim = 'mine' | 'other' | 'none-left' | SettledCall

export interface CallWish {
  readonly hash: string
  /** Dollars. */
  readonly price: number
}

/** Somebody else has the task or the run lock, or the run has ended: nothing was stored. */
export class TaskLostError extends Error {
  constructor(what = 'the task') {
    super(`${what} is not held any more`)
  }
}

/**
 * Runs cut into tasks, for stores that several processes share: one of them, which has the run lock, cuts a run and waits; all
 * compute. Whoever stops without a word loses its tasks to others after {@link LEASE_MS}.
 */
export interface RunTasks {
  /** Notes what a run is about, before anything is cut. */
  begin(run: RunId, place: Omit<RunPlace, 'levels'>): Promise<void>
  /** Null when the run has not begun. */
  place(run: RunId): Promise<RunPlace | null>
  /** Keys of records that a derivation has work for, ascending. */
  workKeys(query: Omit<WorkQuery, 'inputs'>): Promise<readonly RecordKey[]>
  /** Adds the tasks of the next level, from 0 on, all or none. */
  addLevel(run: RunId, level: number, cut: LevelCut): Promise<void>
  /** Gives tasks of workers that are gone to others, and returns the state of the run's tasks. */
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
  goesOn(run: RunId): Promise<boolean>
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

  /** Says that a worker is there, and computes for all (`local`: only until there is one that does). */
  present(worker: string, about: { readonly name: string; readonly local: boolean }): Promise<void>
  /** A worker goes; its tasks are others' at once. */
  leave(worker: string): Promise<void>
  /** How many workers there are, not counting local ones. */
  workers(): Promise<number>
  /** Up to so many tasks, which the worker has from now on. Others of its that are not among `held` go to others. */
  take(worker: string, limit: number, held: readonly TakenTask[]): Promise<readonly TakenTask[]>
  /** Settles a task, if it is still held. */
  settle(task: TakenTask, error: TaskError | null): Promise<void>
  /**
   * Stores what a task came to for some cells; see `SheetStore.commitCells`, but that `progress` is by how much it has grown.
   * Throws {@link TaskLostError}.
   */
  commitCells(task: TakenTask, commit: CellCommit): Promise<readonly CellOutcome[]>
  /** Notes calls that brought nothing yet, by how much they have grown. */
  noteCalls(task: TakenTask, progress: CellCommit['progress']): Promise<void>
  /**
   * Adds what a process has seen of hosts to the failures in a row of a run, and returns how many there are at those where calls failed,
   * by host.
   */
  noteStreaks(run: RunId, notes: readonly StreakNote[]): Promise<ReadonlyMap<string, number>>
  /** Of records of a task that was taken before, the cells that the run has computed or has found to fail, by target. */
  settledCells(
    task: TakenTask,
    items: readonly WorkItem[],
  ): Promise<ReadonlyMap<RecordKey, ReadonlySet<string>>>
  /** Asks who makes calls; equal hashes of a run are called for once. */
  claimCalls(task: TakenTask, wishes: readonly CallWish[]): Promise<ReadonlyMap<string, CallClaim>>
  /** A call that was claimed brings nothing; one that was sent counts towards the bounds all the same. */
  releaseCall(task: TakenTask, wish: CallWish, wasSent: boolean): Promise<void>
  /** Replaces the price of a call that was claimed by what it cost, in dollars: 0 where it failed before it was sent. */
  settleCall(task: TakenTask, wish: CallWish, cost: number): Promise<void>

  close(): Promise<void>
}

/** What a process has seen of a host since it last told. */
export interface StreakNote {
  readonly host: string
  /** Failures since the last success, or since the last note. */
  readonly failures: number
  /** Whether a call succeeded before these, or with none of them. */
  readonly succeeded: boolean
}

/** A run without a process. */
export interface OrphanedRun {
  readonly id: RunId
  /** Whether it waited for the run lock. */
  readonly waits: boolean
}

export interface LevelCut {
  /** From the first on, each time: what was added is taken back when the connection is lost, and then added again. */
  tasks(): AsyncIterable<readonly Omit<RunTask, 'run'>[]>
  /** How many cells of the level are left alone since they have nothing to do. */
  readonly idle: number
}

/** The time, in milliseconds, after its last heartbeat at which a process counts as gone. */
export const LEASE_MS = 6000

/** The interval, in milliseconds, of heartbeats. */
export const HEARTBEAT_MS = 1000

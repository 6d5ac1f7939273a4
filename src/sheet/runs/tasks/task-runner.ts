import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { LockTimeoutError, RecordsError, RunStoppedError } from '../../../errors/service-error.ts'
import {
  HEARTBEAT_MS,
  LEASE_MS,
  TaskLostError,
  type RunTasks,
  type TakenTask,
} from '../../../store/run-tasks.ts'
import { computeTask } from './compute-task.ts'
import { MOST_RECORDS } from './cut-level.ts'
import type { Sheet } from '../../sheet.ts'
import { reportedError } from '../../run-error.ts'

/** Tasks at a time: while one stores its last results, others make calls. */
const SLOTS = 4

/** Hosts whose limits a process can use to the full, where these allow more calls at a time than there are records in so many tasks. */
const HOSTS = 4

/** The interval, in milliseconds, at which tasks are looked for while there are none. */
const IDLE_MS = 200

/** The interval, in milliseconds, at which a stopping runner checks whether its tasks have ended. */
const STOP_POLL_MS = 20

/** The interval, in milliseconds, at which the runs of its tasks are checked for an end. */
const RUN_POLL_MS = 250

/**
 * The margin, in milliseconds, by which a process without heartbeats gives its tasks up before others may take them.
 */
const LEASE_MARGIN_MS = 1500

/** Attempts after which a task fails, and its run with it, while the store is unavailable. */
const ATTEMPT_LIMIT = 20

/** The pause, in milliseconds, after the store was unavailable. */
const RETRY_MS = 500

/** The interval, in milliseconds, at which an unavailable store is logged. */
const LOG_INTERVAL_MS = 10_000

interface HeldTask {
  readonly task: TakenTask
  readonly stopping: AbortController
}

/** Reasons to abort tasks. */
const RUN_STOPPED = new Error('the run was stopped')
const PROCESS_STOPS = new Error('the process is stopping')
const LEASE_EXPIRED = new Error(
  'this process could not send heartbeats, so that other processes take its tasks over',
)

export interface TaskRunnerOptions {
  /** Whether it computes only until there are workers. */
  readonly local: boolean
}

/** Computes tasks of the sheet's runs until it is stopped. */
export class TaskRunner {
  readonly #sheet: Sheet
  readonly #tasks: RunTasks
  readonly #about: { readonly name: string; readonly local: boolean }
  readonly #id = randomUUID()
  readonly #held = new Map<string, HeldTask>()
  readonly #stopping = new AbortController()
  readonly #loops: Promise<unknown>
  #renewedAt = performance.now()
  #loggedAt = -Infinity
  #takes = true
  #wake: () => void = () => undefined

  constructor(sheet: Sheet, tasks: RunTasks, { local }: TaskRunnerOptions) {
    this.#sheet = sheet
    this.#tasks = tasks
    this.#about = { name: `${hostname()} ${process.pid}`, local }
    this.#loops = Promise.all([
      this.#every(HEARTBEAT_MS, () => this.#heartbeat()),
      this.#every(RUN_POLL_MS, () => this.#checkRuns()),
      this.#work(),
    ])
  }

  /**
   * Takes no more tasks, waits up to `graceMs` milliseconds for those under way, and leaves the rest to other
   * processes.
   */
  async stop(graceMs: number): Promise<void> {
    this.#takes = false
    const deadline = performance.now() + graceMs
    // Polls, since `#change` resolves for one waiter only, and here there may be two.
    while (this.#held.size > 0 && performance.now() < deadline) await delay(STOP_POLL_MS)
    this.#stopping.abort()
    this.#wake()
    for (const { stopping } of this.#held.values()) stopping.abort(PROCESS_STOPS)
    while (this.#held.size > 0) await delay(STOP_POLL_MS)
    await this.#loops
    // When the store is unavailable, the leases expire after a few seconds.
    await this.#tasks.leave(this.#id).catch(() => undefined)
  }

  async #work(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const free = this.#takes ? this.#slots() - this.#held.size : 0
      const taken = free > 0 ? await this.#take(free) : []
      for (const task of taken) this.#start(task)
      if (taken.length < free || free <= 0) await this.#change(IDLE_MS)
    }
  }

  #slots(): number {
    try {
      const { maxConcurrency } = this.#sheet.policies()
      return Math.max(SLOTS, Math.ceil((HOSTS * maxConcurrency) / MOST_RECORDS))
    } catch {
      // The tasks report it.
      return SLOTS
    }
  }

  async #take(count: number): Promise<readonly TakenTask[]> {
    try {
      const held = [...this.#held.values()].map(({ task }) => task)
      return await this.#tasks.take(this.#id, count, held)
    } catch (error) {
      this.#logError(error)
      await delay(RETRY_MS)
      return []
    }
  }

  #start(task: TakenTask): void {
    const stopping = new AbortController()
    this.#held.set(task.job, { task, stopping })
    void this.#compute(task, stopping.signal).finally(() => {
      this.#held.delete(task.job)
      this.#wake()
    })
  }

  /** Computes a task. Never rejects. A task that is not settled goes to other processes. */
  async #compute(task: TakenTask, signal: AbortSignal): Promise<void> {
    try {
      await computeTask(this.#sheet, this.#tasks, task, signal)
      await this.#tasks.settle(task, null)
    } catch (error) {
      if (error instanceof TaskLostError) return
      if (signal.aborted) {
        // No other process should compute it either; if it cannot be settled now, the end of the run settles it.
        if (signal.reason === RUN_STOPPED) await this.#tasks.settle(task, null).catch(() => undefined)
        return
      }
      if (isStoreUnavailable(error) && task.attempt < ATTEMPT_LIMIT) {
        this.#logError(error)
        await delay(RETRY_MS)
        return
      }
      if (!(error instanceof RunStoppedError))
        this.#sheet.logger.error({ err: error, run: task.run }, 'a task of a run failed')
      await this.#tasks.settle(task, reportedError(error)).catch(() => undefined)
    }
  }

  async #heartbeat(): Promise<void> {
    const sentAt = performance.now()
    // The process may have been suspended.
    this.#checkLease()
    try {
      await within(HEARTBEAT_MS * 2, this.#tasks.present(this.#id, this.#about))
      this.#renewedAt = sentAt
    } catch (error) {
      this.#logError(error)
    }
    this.#checkLease()
  }

  /** Aborts tasks whose lease is about to expire. */
  #checkLease(): void {
    if (performance.now() - this.#renewedAt >= LEASE_MS - LEASE_MARGIN_MS)
      this.#stopTasks(() => true, LEASE_EXPIRED)
  }

  /** Stops tasks of runs that have ended. */
  async #checkRuns(): Promise<void> {
    const runs = new Set([...this.#held.values()].map(({ task }) => task.run))
    for (const run of runs) {
      // A store that cannot be read is asked again.
      const continues = await this.#tasks.continues(run).catch(() => true)
      if (!continues) this.#stopTasks((task) => task.run === run, RUN_STOPPED)
    }
  }

  #stopTasks(which: (task: TakenTask) => boolean, why: Error): void {
    for (const { task, stopping } of this.#held.values()) {
      if (which(task)) stopping.abort(why)
    }
  }

  /** Repeats work until the runner is stopped; the work must not reject. */
  async #every(ms: number, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await work()
      await delay(ms, undefined, { signal }).catch(() => undefined)
    }
  }

  /** Waits until a task ends, at most so many milliseconds. */
  async #change(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    this.#wake = resolve
    await promise
    clearTimeout(timer)
  }

  #logError(error: unknown): void {
    if (!isStoreUnavailable(error)) return this.#sheet.logger.error({ err: error }, 'internal error')
    // Every operation fails the same way, several times a second.
    if (performance.now() - this.#loggedAt < LOG_INTERVAL_MS) return
    this.#loggedAt = performance.now()
    this.#sheet.logger.warn({}, `the store is unavailable: ${(error as Error).message}`)
  }
}

/** Whether an error is that the store cannot be used at the moment, and not one of the task. */
export function isStoreUnavailable(error: unknown): boolean {
  return error instanceof RecordsError || error instanceof LockTimeoutError
}

async function within<T>(ms: number, response: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new RecordsError('the database does not respond')), ms)
  response.catch(() => undefined)
  try {
    return await Promise.race([response, late])
  } finally {
    clearTimeout(timer)
  }
}

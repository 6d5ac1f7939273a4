import { setTimeout as delay } from 'node:timers/promises'
import type { Level, LevelTasks } from '../../../derivation/run/run-levels.ts'
import { OperationError } from '../../../errors/service-error.ts'
import { HEARTBEAT_MS, TaskLostError, type RunPlace, type RunTasks } from '../../../store/run-tasks.ts'
import type { SheetStore } from '../../../store/sheet-store.ts'
import type { RunLock } from '../../../store/stored-run.ts'
import type { ActiveRun } from '../../active-run.ts'
import { errorFrom } from '../../run-error.ts'
import { cutLevel } from '../tasks/cut-level.ts'
import { LocalRunner } from '../tasks/local-runner.ts'
import type { LockedRun } from './accepted-run.ts'

/** The intervals, in milliseconds, at which the state of tasks is polled: at first, and the longest. */
const FIRST_POLL_MS = 20
const LONGEST_POLL_MS = 200

/** The time, in milliseconds, that processes have to release the tasks of a run that was stopped. */
const RELEASE_TIMEOUT_MS = 3000

/**
 * The tasks of a run that workers compute, and this process while there are none. Sends the heartbeats of the
 * coordinator and keeps `active` up to date until it is closed.
 */
export class SharedTasks implements LevelTasks {
  readonly #tasks: RunTasks
  readonly #store: SheetStore
  readonly #active: ActiveRun
  readonly #lock: RunLock
  readonly #runner: LocalRunner
  readonly #heartbeat: NodeJS.Timeout
  /** One at a time, so that none is published after the last. */
  #reporting: Promise<void> | null = null
  #lockLost: TaskLostError | null = null

  constructor({ sheet, store, active, lock }: LockedRun, tasks: RunTasks) {
    this.#tasks = tasks
    this.#store = store
    this.#active = active
    this.#lock = lock
    this.#runner = new LocalRunner(sheet, tasks)
    this.#heartbeat = setInterval(() => {
      // Also while one has no response: its connection may be lost, and others not.
      void this.heartbeat().catch((error: unknown) => {
        if (error instanceof TaskLostError) this.#lockLost = error
      })
      this.#reporting ??= this.#report()
        .catch(() => undefined)
        .finally(() => (this.#reporting = null))
    }, HEARTBEAT_MS / 4)
  }

  /** Sends a heartbeat. Throws TaskLostError when the run lock is lost. */
  heartbeat(): Promise<void> {
    return this.#tasks.heartbeat(this.#active.id, this.#lock)
  }

  /** Returns where the run was left; null when it has not begun. */
  place(): Promise<RunPlace | null> {
    return this.#tasks.place(this.#active.id)
  }

  begin(place: Omit<RunPlace, 'levels'>): Promise<void> {
    return this.#tasks.begin(this.#active.id, place)
  }

  async hasWorkers(): Promise<boolean> {
    return (await this.#tasks.workers()) > 0
  }

  async add(level: Level): Promise<void> {
    const workers = Math.max(1, await this.#tasks.workers())
    await this.#tasks.addLevel(this.#active.id, level.number, cutLevel(this.#tasks, level, workers))
  }

  /** Throws TaskLostError too, when the run lock is lost. */
  async settled(): Promise<void> {
    const { id, signal } = this.#active
    for (let wait = FIRST_POLL_MS; ; wait = Math.min(wait * 1.5, LONGEST_POLL_MS)) {
      signal.throwIfAborted()
      if (this.#lockLost !== null) throw this.#lockLost
      const { open, error } = await this.#tasks.state(id)
      if (error !== null) throw errorFrom(error)
      if (open === 0) break
      await this.#runner.update()
      await delay(wait, undefined, { signal }).catch(() => undefined)
    }
    // The tasks of a stopped run are settled without being computed.
    if (!(await this.#tasks.continues(id))) await this.#throwStopped()
  }

  /** Deletes the tasks of a run that is computed. Throws TaskLostError when another process has taken it over, which needs them. */
  async end(): Promise<void> {
    const { id, signal } = this.#active
    signal.throwIfAborted()
    await this.heartbeat()
    await this.#tasks.end(id)
    await this.#reportLast()
  }

  /** Stops the tasks of the run in all processes, and counts what they have stored. */
  async stop(): Promise<void> {
    const { id } = this.#active
    // First, so that no other process starts the tasks that are given up here.
    await this.#tasks.stop(id)
    await this.#runner.stop()
    const deadline = performance.now() + RELEASE_TIMEOUT_MS
    while ((await this.#tasks.state(id)).held > 0 && performance.now() < deadline) await delay(FIRST_POLL_MS)
    await this.#tasks.end(id)
    await this.#reportLast()
  }

  /**
   * Releases the run, so that another process takes it over at once; when the store cannot be written, others detect it
   * after a few seconds.
   */
  async handOver(): Promise<void> {
    // First: as long as it sends heartbeats, no other process takes the run over.
    clearInterval(this.#heartbeat)
    await this.#tasks.handOver(this.#active.id, this.#lock).catch(() => undefined)
  }

  /** Stops coordinating the run. Tasks that this process computes are left to others. */
  async close(): Promise<void> {
    clearInterval(this.#heartbeat)
    await this.#runner.stop()
  }

  async #throwStopped(): Promise<never> {
    const { id, signal } = this.#active
    const actor = await this.#store.cancelRequest(id)
    if (actor !== null) this.#active.cancel(actor)
    signal.throwIfAborted()
    throw new OperationError(`run ${id} was stopped by another process`, 'run_interrupted')
  }

  async #reportLast(): Promise<void> {
    clearInterval(this.#heartbeat)
    await this.#reporting
    await this.#report()
  }

  /** Publishes the progress of the run. */
  async #report(): Promise<void> {
    const run = await this.#store.run(this.#active.id)
    // Another process may have ended it, and published that.
    if (run?.state === 'running') this.#active.feed.onProgress(run)
  }
}

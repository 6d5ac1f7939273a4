import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { LockTimeoutError, RecordsError, RunStoppedError } from '../../../errors/service-error.ts'
import { BEAT_MS, LEASE_MS, TaskLostError, type RunTasks, type TakenTask } from '../../../store/run-tasks.ts'
import { computeTask } from './compute-task.ts'
import type { Sheet } from '../../sheet.ts'
import { reportedError } from '../../run-error.ts'

/** Tasks at a time: while one stores its last results, others call. */
const SLOTS = 4

/** How often tasks are looked for while there are none. */
const IDLE_MS = 200

/** How often it is looked, when it is stopped, whether tasks have ended. */
const STOP_LOOK_MS = 20

/** How often it is looked whether runs are to go on. */
const LOOK_MS = 250

/** A process that could not say that it is there gives its tasks up so long before others take them. */
const LEASE_MARGIN_MS = 1500

/** A task that was given up so often, for trouble of the store, does not go better the next time: its run is told. */
const TROUBLE_LIMIT = 20

/** How long tasks wait after the store was in trouble. */
const TROUBLE_MS = 500

/** How often it is told that the store is in trouble, while it is. */
const TELL_AGAIN_MS = 10_000

interface HeldTask {
  readonly task: TakenTask
  readonly stopping: AbortController
}

/** Why tasks are not computed on. */
const RUN_STOPPED = new Error('the run was stopped')
const PROCESS_STOPS = new Error('the process is stopping')
const NOT_HEARD = new Error('this process could not say that it is there, and its tasks are others by now')

export interface TaskRunnerOptions {
  /** Whether it is there only until workers are. */
  readonly local: boolean
}

/** Computes tasks of the sheet's runs, for as long as it is not stopped. */
export class TaskRunner {
  readonly #sheet: Sheet
  readonly #tasks: RunTasks
  readonly #about: { readonly name: string; readonly local: boolean }
  readonly #id = randomUUID()
  readonly #held = new Map<string, HeldTask>()
  readonly #stopping = new AbortController()
  readonly #loops: Promise<unknown>
  #seenAt = performance.now()
  #troubleToldAt = -Infinity
  #takes = true
  #wake: () => void = () => undefined

  constructor(sheet: Sheet, tasks: RunTasks, { local }: TaskRunnerOptions) {
    this.#sheet = sheet
    this.#tasks = tasks
    this.#about = { name: `${hostname()} ${process.pid}`, local }
    this.#loops = Promise.all([
      this.#every(BEAT_MS, () => this.#beat()),
      this.#every(LOOK_MS, () => this.#look()),
      this.#work(),
    ])
  }

  /** Takes no more tasks, gives those under way some time, and leaves what is not done to others. */
  async stop(graceMs: number): Promise<void> {
    this.#takes = false
    const deadline = performance.now() + graceMs
    // Only one who waits is woken, and here there may be two.
    while (this.#held.size > 0 && performance.now() < deadline) await delay(STOP_LOOK_MS)
    this.#stopping.abort()
    this.#wake()
    for (const { stopping } of this.#held.values()) stopping.abort(PROCESS_STOPS)
    while (this.#held.size > 0) await delay(STOP_LOOK_MS)
    await this.#loops
    // Where the store is away, they are found to be nobody's in a few seconds.
    await this.#tasks.leave(this.#id).catch(() => undefined)
  }

  async #work(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const room = this.#takes ? SLOTS - this.#held.size : 0
      const taken = room > 0 ? await this.#take(room) : []
      for (const task of taken) this.#start(task)
      if (taken.length < room || room <= 0) await this.#change(IDLE_MS)
    }
  }

  async #take(room: number): Promise<readonly TakenTask[]> {
    try {
      const held = [...this.#held.values()].map(({ task }) => task)
      return await this.#tasks.take(this.#id, room, held)
    } catch (error) {
      this.#tell(error)
      await delay(TROUBLE_MS)
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

  /** Never rejects. What is not settled goes to others. */
  async #compute(task: TakenTask, signal: AbortSignal): Promise<void> {
    try {
      await computeTask(this.#sheet, this.#tasks, task, signal)
      await this.#tasks.settle(task, null)
    } catch (error) {
      if (error instanceof TaskLostError) return
      if (signal.aborted) {
        // Nobody else is to compute it either; what cannot be settled now goes with its run.
        if (signal.reason === RUN_STOPPED) await this.#tasks.settle(task, null).catch(() => undefined)
        return
      }
      if (isTrouble(error) && task.attempt < TROUBLE_LIMIT) {
        this.#tell(error)
        await delay(TROUBLE_MS)
        return
      }
      const isStopped = error instanceof RunStoppedError
      if (!isStopped) this.#sheet.logger.error({ err: error, run: task.run }, 'a task of a run broke')
      const told = reportedError(error)
      await this.#tasks
        .settle(task, isStopped ? { ...told, type: 'RunStopped' } : told)
        .catch(() => undefined)
    }
  }

  async #beat(): Promise<void> {
    const asked = performance.now()
    // It may have been halted.
    this.#checkLease()
    try {
      await within(BEAT_MS * 2, this.#tasks.present(this.#id, this.#about))
      this.#seenAt = asked
    } catch (error) {
      this.#tell(error)
    }
    this.#checkLease()
  }

  /** Gives tasks up that are others' by now, or soon. */
  #checkLease(): void {
    if (performance.now() - this.#seenAt >= LEASE_MS - LEASE_MARGIN_MS) this.#stopTasks(() => true, NOT_HEARD)
  }

  /** Stops tasks of runs that are not to go on. */
  async #look(): Promise<void> {
    const runs = new Set([...this.#held.values()].map(({ task }) => task.run))
    for (const run of runs) {
      // A store that cannot be read just now is asked again.
      const goesOn = await this.#tasks.goesOn(run).catch(() => true)
      if (!goesOn) this.#stopTasks((task) => task.run === run, RUN_STOPPED)
    }
  }

  #stopTasks(which: (task: TakenTask) => boolean, why: Error): void {
    for (const { task, stopping } of this.#held.values()) {
      if (which(task)) stopping.abort(why)
    }
  }

  /** Does something again and again until it is stopped; must not reject. */
  async #every(ms: number, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await work()
      await delay(ms, undefined, { signal }).catch(() => undefined)
    }
  }

  /** Waits until a task ends, or for so long. */
  async #change(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    this.#wake = resolve
    await promise
    clearTimeout(timer)
  }

  #tell(error: unknown): void {
    if (!isTrouble(error)) return this.#sheet.logger.error({ err: error }, 'internal error')
    // All that is done meets the same trouble, several times a second.
    if (performance.now() - this.#troubleToldAt < TELL_AGAIN_MS) return
    this.#troubleToldAt = performance.now()
    this.#sheet.logger.warn({}, `the store is in trouble: ${(error as Error).message}`)
  }
}

/** Whether an error says nothing of a task, but that the store cannot be used just now. */
export function isTrouble(error: unknown): boolean {
  return error instanceof RecordsError || error instanceof LockTimeoutError
}

async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new RecordsError('the database does not answer')), ms)
  answer.catch(() => undefined)
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

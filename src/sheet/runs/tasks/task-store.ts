import type { FailureStreak } from '../../../derivation/failure-streak.ts'
import type { RunStore } from '../../../derivation/run-request.ts'
import { RecordsError } from '../../../errors/service-error.ts'
import type { RunTasks, TakenTask } from '../../../store/run-tasks.ts'
import type { CellCommit, CellOutcome } from '../../../store/cell-work.ts'
import type { SheetStore } from '../../../store/sheet-store.ts'
import type { RunProgress } from '../../../store/stored-run.ts'

type Counts = CellCommit['progress']

/** The interval, in milliseconds, at which calls without results are counted in the store. */
const NOTE_MS = 250

/** The parts of a {@link TaskStore}. */
export interface TaskStoreParts {
  readonly store: SheetStore
  readonly tasks: RunTasks
  readonly task: TakenTask
  /** The failures in a row of the run that this process has seen. */
  readonly streak: FailureStreak
}

/** The store of a task: what it stores adds to the counts of its run beside those of other tasks. */
export class TaskStore implements RunStore {
  readonly #store: SheetStore
  readonly #tasks: RunTasks
  readonly #task: TakenTask
  readonly #streak: FailureStreak
  readonly #timer: NodeJS.Timeout
  #reported: Counts = { skipped: 0, left: 0, calls: 0, totalCost: 0, unpricedCalls: 0 }
  #now: Counts = this.#reported
  #noting: Promise<void> = Promise.resolve()

  constructor({ store, tasks, task, streak }: TaskStoreParts) {
    this.#store = store
    this.#tasks = tasks
    this.#task = task
    this.#streak = streak
    this.#timer = setInterval(() => void this.note().catch(() => undefined), NOTE_MS)
  }

  get hosts(): RunStore['hosts'] {
    return this.#store.hosts
  }

  get formulas(): SheetStore['formulas'] {
    return this.#store.formulas
  }

  get queries(): SheetStore['queries'] {
    return this.#store.queries
  }

  get responses(): RunStore['responses'] {
    return this.#store.responses
  }

  status: RunStore['status'] = () => this.#store.status()
  work: RunStore['work'] = (query) => this.#store.work(query)
  provenance: RunStore['provenance'] = (id, field, limit) => this.#store.provenance(id, field, limit)
  cached: RunStore['cached'] = (hashes) => this.#store.cached(hashes)
  usage: RunStore['usage'] = (key) => this.#store.usage(key)

  /** Records the progress of the task. */
  onProgress({ skipped, left, calls, totalCost, unpricedCalls }: RunProgress): void {
    this.#now = { skipped, left, calls, totalCost, unpricedCalls }
  }

  async commitCells(commit: CellCommit): Promise<readonly CellOutcome[]> {
    const stored = this.#report(commit.progress, (progress) =>
      this.#tasks.commitCells(this.#task, { ...commit, progress }),
    )
    const [outcomes] = await Promise.all([stored, this.#shareStreak()])
    return outcomes
  }

  /** Combines the failures in a row of this process with those of others. */
  async #shareStreak(): Promise<void> {
    const notes = this.#streak.take()
    if (notes.length === 0) return
    try {
      this.#streak.learn(await this.#tasks.noteStreaks(this.#task.run, notes))
    } catch (error) {
      this.#streak.giveBack(notes)
      // The commit throws the error of an unavailable store.
      if (!(error instanceof RecordsError)) throw error
    }
  }

  /** Stores counts that are not stored yet; resolves when those of earlier notes are stored as well. */
  note(): Promise<void> {
    const noted = this.#noting.then(() => this.#note())
    this.#noting = noted.catch(() => undefined)
    return noted
  }

  async #note(): Promise<void> {
    const { skipped, calls, totalCost } = this.#now
    const reported = this.#reported
    if (skipped === reported.skipped && calls === reported.calls && totalCost === reported.totalCost) return
    await this.#report(this.#now, (grown) => this.#tasks.noteCalls(this.#task, grown))
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Stores by how much the counts have grown; counts that cannot be stored are stored with the next. */
  async #report<T>(now: Counts, send: (grown: Counts) => Promise<T>): Promise<T> {
    const grown = difference(now, this.#reported)
    this.#reported = now
    try {
      return await send(grown)
    } catch (error) {
      this.#reported = difference(this.#reported, grown)
      throw error
    }
  }
}

function difference(one: Counts, other: Counts): Counts {
  return {
    skipped: one.skipped - other.skipped,
    calls: one.calls - other.calls,
    totalCost: one.totalCost - other.totalCost,
    left: one.left - other.left,
    unpricedCalls: one.unpricedCalls - other.unpricedCalls,
  }
}

import type { FailureStreak } from '../../../derivation/failure-streak.ts'
import type { RunStore } from '../../../derivation/run-request.ts'
import { RecordsError } from '../../../errors/service-error.ts'
import type { RunTasks, TakenTask } from '../../../store/run-tasks.ts'
import type { CellCommit, CellOutcome } from '../../../store/cell-work.ts'
import type { SheetStore } from '../../../store/sheet-store.ts'
import type { RunProgress } from '../../../store/stored-run.ts'

type Counts = CellCommit['progress']

/** How often the store is told of calls that have brought nothing yet. */
const NOTE_MS = 250

/** What a {@link TaskStore} is of. */
export interface TaskStoreParts {
  readonly store: SheetStore
  readonly tasks: RunTasks
  readonly task: TakenTask
  /** The failures in a row that this process has seen of the run. */
  readonly streak: FailureStreak
}

/** The store as a task sees it: what it stores counts towards its run beside what other tasks do. */
export class TaskStore implements RunStore {
  readonly #store: SheetStore
  readonly #tasks: RunTasks
  readonly #task: TakenTask
  readonly #streak: FailureStreak
  readonly #timer: NodeJS.Timeout
  #told: Counts = { skipped: 0, left: 0, calls: 0, totalCost: 0, unpricedCalls: 0 }
  #now: Counts = this.#told

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

  get responses(): RunStore['responses'] {
    return this.#store.responses
  }

  status: RunStore['status'] = () => this.#store.status()
  work: RunStore['work'] = (query) => this.#store.work(query)
  provenance: RunStore['provenance'] = (id, field, limit) => this.#store.provenance(id, field, limit)
  cached: RunStore['cached'] = (hashes) => this.#store.cached(hashes)

  /** Hears how far the task is. */
  onProgress({ skipped, left, calls, totalCost, unpricedCalls }: RunProgress): void {
    this.#now = { skipped, left, calls, totalCost, unpricedCalls }
  }

  async commitCells(commit: CellCommit): Promise<readonly CellOutcome[]> {
    const stored = this.#telling(commit.progress, (progress) =>
      this.#tasks.commitCells(this.#task, { ...commit, progress }),
    )
    const [outcomes] = await Promise.all([stored, this.#shareStreak()])
    return outcomes
  }

  /** Adds the failures in a row of this process to those of others. */
  async #shareStreak(): Promise<void> {
    const notes = this.#streak.take()
    if (notes.length === 0) return
    try {
      this.#streak.learn(await this.#tasks.noteStreaks(this.#task.run, notes))
    } catch (error) {
      this.#streak.giveBack(notes)
      // The store is in trouble, of which the commit tells.
      if (!(error instanceof RecordsError)) throw error
    }
  }

  /** Tells the store what it has not heard yet. */
  async note(): Promise<void> {
    const { skipped, calls, totalCost } = this.#now
    const told = this.#told
    if (skipped === told.skipped && calls === told.calls && totalCost === told.totalCost) return
    await this.#telling(this.#now, (grown) => this.#tasks.noteCalls(this.#task, grown))
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #telling<T>(now: Counts, tell: (grown: Counts) => Promise<T>): Promise<T> {
    const before = this.#told
    const grown = {
      skipped: now.skipped - before.skipped,
      calls: now.calls - before.calls,
      totalCost: now.totalCost - before.totalCost,
      left: now.left - before.left,
      unpricedCalls: now.unpricedCalls - before.unpricedCalls,
    }
    this.#told = now
    return tell(grown)
  }
}

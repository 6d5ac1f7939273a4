import type { RunTasks } from '../../../store/run-tasks.ts'
import type { Sheet } from '../../sheet.ts'
import { TaskRunner } from './task-runner.ts'

/** The minimum interval, in milliseconds, between checks for workers. */
const CHECK_INTERVAL_MS = 1000

/** Computes a run's tasks in the coordinator's process while there are no workers. */
export class LocalRunner {
  readonly #sheet: Sheet
  readonly #tasks: RunTasks
  #runner: TaskRunner | null = null
  #checkedAt = -Infinity

  constructor(sheet: Sheet, tasks: RunTasks) {
    this.#sheet = sheet
    this.#tasks = tasks
  }

  /** Starts or stops computing, depending on whether there are workers. */
  async update(): Promise<void> {
    if (performance.now() - this.#checkedAt < CHECK_INTERVAL_MS) return
    this.#checkedAt = performance.now()
    const needed = (await this.#tasks.workers()) === 0
    if (needed) this.#runner ??= new TaskRunner(this.#sheet, this.#tasks, { local: true })
    else await this.stop()
  }

  async stop(): Promise<void> {
    const runner = this.#runner
    this.#runner = null
    await runner?.stop(0)
  }
}

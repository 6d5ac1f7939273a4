import type { RunTasks } from '../../../store/run-tasks.ts'
import type { Sheet } from '../../sheet.ts'
import { TaskRunner } from './task-runner.ts'

/** How often it is looked whether there are workers. */
const LOOK_MS = 1000

/** Computes a run's tasks in the process that sees to it, while there is no worker that does. */
export class LocalRunner {
  readonly #sheet: Sheet
  readonly #tasks: RunTasks
  #runner: TaskRunner | null = null
  #lookedAt = -Infinity

  constructor(sheet: Sheet, tasks: RunTasks) {
    this.#sheet = sheet
    this.#tasks = tasks
  }

  /** Looks, every now and then, whether it is needed. */
  async see(): Promise<void> {
    if (performance.now() - this.#lookedAt < LOOK_MS) return
    this.#lookedAt = performance.now()
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

/** Runs a task once, some time after a request. Does not keep the process alive. */
export class IdleTimer {
  readonly #ms: number
  readonly #task: () => void
  #timer: NodeJS.Timeout | null = null

  constructor(ms: number, task: () => void) {
    this.#ms = ms
    this.#task = task
  }

  /** Schedules the task, unless it is scheduled. */
  start(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#task()
    }, this.#ms).unref()
  }

  /** Schedules the task anew, counted from now. */
  restart(): void {
    if (this.#timer === null) this.start()
    else this.#timer.refresh()
  }

  cancel(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}

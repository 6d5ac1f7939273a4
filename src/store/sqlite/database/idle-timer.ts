/** Runs a task once, some time after it was asked for. Does not keep the process alive. */
export class IdleTimer {
  readonly #ms: number
  readonly #task: () => void
  #timer: NodeJS.Timeout | null = null

  constructor(ms: number, task: () => void) {
    this.#ms = ms
    this.#task = task
  }

  /** Has the task run when the time has passed, counted from the first time it was asked for. */
  start(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#task()
    }, this.#ms).unref()
  }

  /** Has the task run when the time has passed, counted from now. */
  restart(): void {
    if (this.#timer === null) this.start()
    else this.#timer.refresh()
  }

  cancel(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}

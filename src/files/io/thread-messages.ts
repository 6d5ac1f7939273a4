import type { Worker } from 'node:worker_threads'

/** The messages of a thread, for one reader that awaits them one by one. */
export class ThreadMessages<T> {
  readonly #messages: T[] = []
  #waiting: PromiseWithResolvers<T> | null = null
  #fault: unknown = null

  /** `explain` converts an error that ended the thread to the one that is thrown. */
  constructor(worker: Worker, explain: (error: unknown) => unknown = (error) => error) {
    worker.on('message', (message: T) => {
      if (this.#waiting === null) this.#messages.push(message)
      else this.#waiting.resolve(message)
    })
    worker.on('error', (error) => this.fail(explain(error)))
    worker.on('exit', () => this.fail(new Error('a thread ended before its work was done')))
  }

  /** Returns the next message. Throws the error of {@link fail}. */
  async next(): Promise<T> {
    const message = this.#messages.shift()
    if (message !== undefined) return message
    if (this.#fault !== null) throw this.#fault
    this.#waiting = Promise.withResolvers()
    try {
      return await this.#waiting.promise
    } finally {
      this.#waiting = null
    }
  }

  /** Rejects the present or the next wait with an error; only the first error counts. */
  fail(fault: unknown): void {
    this.#fault ??= fault
    this.#waiting?.reject(this.#fault)
  }
}

/** Returns the error for a bug in a thread, with the stack of the thread. */
export function threadError(stack: string): Error {
  const error = new Error('internal error in a thread')
  error.stack = stack
  return error
}

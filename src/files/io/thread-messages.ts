import type { Worker } from 'node:worker_threads'

/** What a thread sends, for one reader who takes it message by message. */
export class ThreadMessages<T> {
  readonly #messages: T[] = []
  #waiting: PromiseWithResolvers<T> | null = null
  #fault: unknown = null

  /** `explain` turns an error that ended the thread into the one that is thrown. */
  constructor(worker: Worker, explain: (error: unknown) => unknown = (error) => error) {
    worker.on('message', (message: T) => {
      if (this.#waiting === null) this.#messages.push(message)
      else this.#waiting.resolve(message)
    })
    worker.on('error', (error) => this.fail(explain(error)))
    worker.on('exit', () => this.fail(new Error('a thread ended before its work was done')))
  }

  /** The next message. Throws what the inbox failed with. */
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

  /** Has whoever waits, now or later, hear of a fault; the first one counts. */
  fail(fault: unknown): void {
    this.#fault ??= fault
    this.#waiting?.reject(this.#fault)
  }
}

/** The fault of the program that a thread met, with the stack that it had there. */
export function threadError(stack: string): Error {
  const error = new Error('internal error in a thread')
  error.stack = stack
  return error
}

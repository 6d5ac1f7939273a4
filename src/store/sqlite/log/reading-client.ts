import { StoppingError } from '../../../errors/service-error.ts'
import type { ReadingOperations } from './reading-protocol.ts'
import { ThreadClient } from '../database/thread-client.ts'

export type LongReads = Pick<ReadingClient, 'call'>

/** The reading thread, as the main thread uses it. Starts with the first call, and again after it has ended. */
export class ReadingClient {
  readonly #path: string
  #thread: ThreadClient<ReadingOperations> | null = null
  #isClosed = false

  /** `path` is that of the database file. */
  constructor(path: string) {
    this.#path = path
  }

  call<Name extends keyof ReadingOperations>(
    operation: Name,
    argument: Parameters<ReadingOperations[Name]>[0],
  ): Promise<ReturnType<ReadingOperations[Name]>> {
    if (!this.#isClosed && (this.#thread === null || this.#thread.hasEnded)) this.#thread = this.#start()
    if (this.#thread === null) return Promise.reject(new StoppingError('the store is closed'))
    return this.#thread.call(operation, argument)
  }

  /** Ends the thread; pending requests fail with a StoppingError. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#thread?.close()
  }

  #start(): ThreadClient<ReadingOperations> {
    // The extension of this file: TypeScript in the repository, JavaScript in the package.
    const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
    const module = new URL(`./reading-thread${extension}`, import.meta.url)
    return new ThreadClient({ name: 'reading', module, workerData: this.#path })
  }
}

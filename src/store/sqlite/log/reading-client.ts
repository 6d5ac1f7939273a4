import { StoppingError } from '../../../errors/service-error.ts'
import type { ReadingOperations } from './reading-protocol.ts'
import { ThreadClient } from '../database/thread-client.ts'
import { entryModule } from '../../../package/package-files.ts'

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
    const module = entryModule(import.meta.url, 'reading-thread')
    return new ThreadClient({ name: 'reading', module, workerData: this.#path })
  }
}

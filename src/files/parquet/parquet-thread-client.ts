import { Worker } from 'node:worker_threads'
import { fromPlainError, ValidationError } from '../../errors/service-error.ts'
import type { FileSource } from '../io/raw-records.ts'
import { threadError, ThreadMessages } from '../io/thread-messages.ts'
import type { ParquetReply, ParquetThreadData } from './parquet-protocol.ts'
import { entryModule } from '../../package/package-files.ts'

/** The limits for reading a file. */
export interface ParquetLimits {
  /** The memory for a row group, in MiB. */
  readonly heapMiB: number
  /** The time for a row group, in milliseconds. */
  readonly deadlineMs: number
}

/** Controls a thread that reads a Parquet file. */
export class ParquetThread {
  readonly #name: string
  readonly #limits: ParquetLimits
  readonly #worker: Worker
  readonly #messages: ThreadMessages<ParquetReply>

  constructor(source: FileSource, limits: ParquetLimits) {
    this.#name = source.name
    this.#limits = limits
    this.#worker = new Worker(entryModule(import.meta.url, 'parquet-thread'), {
      workerData: { source: { path: source.path, name: source.name } } satisfies ParquetThreadData,
      resourceLimits: { maxOldGenerationSizeMb: limits.heapMiB },
    })
    this.#messages = new ThreadMessages(this.#worker, (error) => this.#explain(error))
  }

  /** Requests the next message. */
  ask(): void {
    this.#worker.postMessage(null)
  }

  /** Returns the next message. Throws ValidationError for an invalid file, and for one beyond the limits. */
  async next(): Promise<ParquetReply> {
    const timer = setTimeout(() => this.#messages.fail(this.#tooLong()), this.#limits.deadlineMs)
    try {
      const answer = await this.#messages.next()
      if (answer.kind === 'refused') throw fromPlainError(answer.error)
      if (answer.kind === 'broken') throw threadError(answer.stack)
      return answer
    } finally {
      clearTimeout(timer)
    }
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }

  #tooLong(): ValidationError {
    const seconds = this.#limits.deadlineMs / 1000
    return new ValidationError(
      `${this.#name}: a row group takes more than ${seconds} s to read; the file is damaged, or its row groups are too large`,
      'unreadable_file',
    )
  }

  #explain(error: unknown): unknown {
    if ((error as { code?: unknown }).code !== 'ERR_WORKER_OUT_OF_MEMORY') return error
    return new ValidationError(
      `${this.#name}: a row group takes more than ${this.#limits.heapMiB} MiB of memory once it is decompressed; ` +
        'write the file with smaller row groups',
      'unreadable_file',
    )
  }
}

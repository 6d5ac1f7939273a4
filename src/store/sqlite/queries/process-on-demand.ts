import { StoppingError } from '../../../errors/service-error.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import type { QueryLimits } from '../../query-limits.ts'
import { SqlProcess } from '../sql/sql-process.ts'
import type { SqlRequest } from '../sql/sql-protocol.ts'

/** Milliseconds after which an idle process ends. */
const IDLE_MS = 10_000

/** A query process that starts with the first request, takes one request after the other, and ends when it is idle. */
export class ProcessOnDemand {
  readonly #path: string | null
  readonly #limits: QueryLimits
  #process: SqlProcess | null = null
  /** Settles when the process is free. */
  #free: Promise<unknown> = Promise.resolve()
  #idle: NodeJS.Timeout | undefined
  #closed = false

  /** `path`: the database file; null for a process that only computes formulas. */
  constructor(path: string | null, limits: QueryLimits) {
    this.#path = path
    this.#limits = limits
  }

  /**
   * Carries out a request after those that came before; returns the parsed response. Throws the reason of the signal once that aborts,
   * StoppingError once it is closed, and as {@link SqlProcess.run} does.
   */
  run(request: SqlRequest, signal: AbortSignal): Promise<JsonValue> {
    const done = this.#free.then(() => this.#run(request, signal))
    this.#free = done.catch(() => undefined)
    return done
  }

  /** Ends the process; requests fail. Resolves when it has ended. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#idle)
    this.#process?.kill()
    await this.#process?.ended
  }

  async #run(request: SqlRequest, signal: AbortSignal): Promise<JsonValue> {
    signal.throwIfAborted()
    if (this.#closed) throw closing()
    clearTimeout(this.#idle)
    const process = this.#usable()
    const stop = (): void => process.kill()
    signal.addEventListener('abort', stop, { once: true })
    try {
      await process.ready
      const { json } = await process.run(request)
      return JSON.parse(json.toString()) as JsonValue
    } catch (error) {
      signal.throwIfAborted()
      throw this.#closed ? closing() : error
    } finally {
      signal.removeEventListener('abort', stop)
      this.#idle = setTimeout(() => this.#process?.kill(), IDLE_MS).unref()
    }
  }

  #usable(): SqlProcess {
    if (this.#process?.usable !== true) this.#process = new SqlProcess(this.#path, this.#limits)
    return this.#process
  }
}

function closing(): StoppingError {
  return new StoppingError('the sheet is being closed')
}

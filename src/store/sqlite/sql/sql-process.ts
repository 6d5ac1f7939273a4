import { queryAbandoned, queryTimeout } from '../../rules/sql/sql-errors.ts'
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { fromPlainError, QueryError } from '../../../errors/service-error.ts'
import type { JsonBytes, PagePlace } from '../../sheet-store.ts'
import { jsonInTurns } from '../../../contract/json/stringify-in-parts.ts'
import { MEMORY_LIMIT_MESSAGE } from '../watchdog/memory-use.ts'
import { inMebibytes, type QueryLimits } from '../../query-limits.ts'
import {
  FRAME,
  FrameDecoder,
  frameHeader,
  type ChildOptions,
  type EndFrame,
  type ErrorFrame,
  type Frame,
  type SqlRequest,
} from './sql-protocol.ts'
import { entryModule } from '../../../package/package-files.ts'

/** The most characters of a process' standard error that are kept. */
const MAX_STDERR = 4000

const MIB = 1024 * 1024

/** Milliseconds within which even a busy machine reads records of 64 MiB. */
const PLAIN_TIMEOUT_MS = 60_000

/** MiB of V8's heap beyond the limit of the watchdog. */
const HEAP_TO_SPARE_MIB = 512

export interface SqlResult {
  readonly json: JsonBytes
  /** For a page: the place after which the next one starts, or null. */
  readonly next: PagePlace | null
}

interface Pending {
  readonly resolve: (result: SqlResult) => void
  readonly reject: (error: Error) => void
  readonly chunks: Buffer[]
  /** By `performance.now()`. */
  readonly since: number
  /** Stops the request at its deadline. */
  timer: NodeJS.Timeout
}

/** A query process, as the server uses it. Takes one request at a time. */
export class SqlProcess {
  /** Resolves when it can take requests; rejects when it ends before that. */
  readonly ready: Promise<void>
  /** Resolves when it has ended. */
  readonly ended: Promise<void>
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #limits: QueryLimits
  readonly #decoder = new FrameDecoder()
  #pending: Pending | null = null
  #stderr = ''
  #usable = true

  /** `path`: the database file; null for a process that only computes formulas. */
  constructor(path: string | null, limits: QueryLimits) {
    this.#limits = limits
    this.#child = startChild({ ...limits, path, parentPid: process.pid })
    const ready = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    this.ready = ready.promise
    this.ended = ended.promise
    const end = (error: Error) => {
      this.#usable = false
      ready.reject(error)
      ended.resolve()
      this.#settle()?.reject(error)
    }
    this.#child.on('error', () => {
      end(new QueryError('no process could be started for the query; try again later', 'too_many_queries'))
    })
    // Where the system has no file descriptors left, there are no pipes either.
    if ((this.#child.stdout as Readable | undefined) === undefined) {
      this.#usable = false
      return
    }
    this.#child.stdout.on('data', (bytes: Buffer) => {
      for (const frame of this.#decoder.push(bytes)) {
        if (frame.kind === FRAME.ready) ready.resolve()
        else this.#receive(frame)
      }
    })
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(0, MAX_STDERR)
    })
    // An error of writing to an ended process; its end is reported separately.
    this.#child.stdin.on('error', () => undefined)
    this.#child.on('close', (code, signal) => end(this.#endError(code, signal)))
  }

  /** The process id; undefined when it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid
  }

  /** False once it has ended or is about to; then it must get no further request. */
  get usable(): boolean {
    return this.#usable
  }

  /** Carries out a request within the deadline. Throws QueryError; a plain Error when the process broke. */
  run(request: SqlRequest): Promise<SqlResult> {
    const timeoutMs = timeoutOf(request, this.#limits)
    return new Promise((resolve, reject) => {
      const timer = this.#stopAfter(timeoutMs, queryTimeout(timeoutMs))
      this.#pending = { resolve, reject, chunks: [], since: performance.now(), timer }
      void this.#send(request)
    })
  }

  /** Sends a request in parts, as parameters can be as long as a body. */
  async #send(request: SqlRequest): Promise<void> {
    const json = await jsonInTurns(request)
    const payload = typeof json === 'string' ? Buffer.from(json) : json
    this.#child.stdin.write(frameHeader(0, payload.length))
    this.#child.stdin.write(payload)
  }

  /** Stops an abandoned request, unless it ends within so many milliseconds after its beginning. */
  abandon(graceMs: number): void {
    const pending = this.#pending
    if (pending === null) return
    clearTimeout(pending.timer)
    const left = Math.min(graceMs, this.#limits.timeoutMs) - (performance.now() - pending.since)
    pending.timer = this.#stopAfter(Math.max(0, left), queryAbandoned())
  }

  #stopAfter(ms: number, reason: QueryError): NodeJS.Timeout {
    return setTimeout(() => {
      this.#settle()?.reject(reason)
      this.kill()
    }, ms)
  }

  /** Ends the process at once; a request under way fails. */
  kill(): void {
    this.#usable = false
    this.#child.kill('SIGKILL')
  }

  #receive({ kind, payload }: Frame): void {
    if (kind === FRAME.chunk) {
      this.#pending?.chunks.push(payload)
      return
    }
    const response = JSON.parse(payload.toString()) as EndFrame | ErrorFrame
    if (response.spent) this.kill()
    const pending = this.#settle()
    if ('next' in response) pending?.resolve({ json: Buffer.concat(pending.chunks), next: response.next })
    else pending?.reject(toError(response.error))
  }

  /** Removes and returns the request under way, so that it is settled only once. */
  #settle(): Pending | null {
    const pending = this.#pending
    this.#pending = null
    if (pending !== null) clearTimeout(pending.timer)
    return pending
  }

  #endError(code: number | null, signal: NodeJS.Signals | null): Error {
    if (this.#stderr.endsWith(MEMORY_LIMIT_MESSAGE)) {
      const limit = inMebibytes(this.#limits.maxMemoryBytes)
      return new QueryError(`the query used more than ${limit} of memory and was stopped`, 'query_memory')
    }
    if (signal === 'SIGKILL')
      return new QueryError('the query was stopped by the system, as when memory runs out', 'query_memory')
    return new Error(`a query process ended (${signal ?? code}): ${this.#stderr}`)
  }
}

/**
 * Returns the milliseconds that a request may take: one without SQL from a user may take as long as its records are large.
 */
function timeoutOf(request: SqlRequest, { timeoutMs }: QueryLimits): number {
  const isPlain =
    request.kind === 'page' && request.filter === null && !request.where && request.sort.length === 0
  return isPlain ? Math.max(timeoutMs, PLAIN_TIMEOUT_MS) : timeoutMs
}

function startChild(options: ChildOptions): ChildProcessByStdio<Writable, Readable, Readable> {
  const file = fileURLToPath(entryModule(import.meta.url, 'sql-child'))
  // The default heap limit of V8 depends on the machine: where it is small, V8 would end the process during a query, before
  // the watchdog does, and without a message for the user.
  const heap = `--max-old-space-size=${Math.ceil(options.maxMemoryBytes / MIB) + HEAP_TO_SPARE_MIB}`
  return spawn(process.execPath, [heap, file, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: childEnvironment(),
    windowsHide: true,
  })
}

/**
 * Returns an environment without the server's own, which may hold secrets; in UTC, so that SQL does not reveal the
 * location.
 */
function childEnvironment(): NodeJS.ProcessEnv {
  const { SystemRoot } = process.env
  const compileCache = getCompileCacheDir()
  return {
    TZ: 'UTC',
    ...(SystemRoot === undefined ? {} : { SystemRoot }),
    // The cache has a folder for each version of Node.
    ...(compileCache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compileCache) }),
  }
}

function toError(error: ErrorFrame['error']): Error {
  return error.type === null ? new Error(`a query process failed: ${error.message}`) : fromPlainError(error)
}

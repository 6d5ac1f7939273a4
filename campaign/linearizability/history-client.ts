import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../src/store/suite/support/random.ts'
import { CSRF } from '../../test/support/http-fixture.ts'
import { send, type Answer } from '../../test/support/send.ts'
import type { History, Input, Output, RecordOfHistory, Values } from './history.ts'

/** The address of a server. */
export interface Endpoint {
  /** Null while it is not running. */
  readonly port: number | null
}

/** A client waits so many milliseconds for an answer, and an impatient one less. */
const PATIENCE_MS = 20_000
const IMPATIENCE_MS = [20, 1000] as const

/** The longest pause between two operations, and the pause when no server can be reached, in milliseconds. */
const PAUSE_MS = 6
const RETRY_MS = 10

/** The list of all records of the sheet. */
const PAGE = '/api/records?limit=10000'

/** Prefers problem details for errors, which have a code. */
const ACCEPT = ['Accept', 'application/problem+json, application/json;q=0.9'] as const

/** The codes of errors after which a write may be stored or not. Any other error says that nothing was written. */
const UNKNOWN = new Set(['unknown_outcome', 'service_stopping'])

interface Request {
  readonly op: Input
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly headers?: readonly (readonly [string, string])[]
  readonly body?: object
  /** Reads the result of a success; null for one that is not checked. */
  readonly read: (answer: Answer) => Output | null
}

interface Seen {
  readonly record: RecordOfHistory
  readonly tag: string
}

/** The records of several histories in a JSON response. */
type Rows = readonly { readonly id: string; readonly a: number | null; readonly b: number | null }[]

/** A client that reads and writes the records of a history at any of the servers, and notes what it receives. */
export class HistoryClient {
  readonly #history: History
  readonly #servers: readonly Endpoint[]
  readonly #random: Random
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  /** The latest version of each record that this client has seen. */
  readonly #seen = new Map<string, Seen>()
  #client: number

  constructor(history: History, servers: readonly Endpoint[], random: Random) {
    this.#history = history
    this.#servers = servers
    this.#random = random
    this.#client = history.newClient()
  }

  /** Carries out operations until so many are noted, or the signal aborts. */
  async work(count: number, signal: AbortSignal, onOperation: () => void): Promise<void> {
    for (let done = 0; done < count && !signal.aborted;) {
      await sleep(this.#random.below(PAUSE_MS + 1))
      if (await this.#carryOut(this.#nextRequest())) {
        done += 1
        onOperation()
      }
    }
    this.#agent.destroy()
  }

  /** Reads all records once more, and then removes them from the sheet. */
  async finish(): Promise<void> {
    const { names } = this.#history
    const last = [...names.map((name) => this.#get(name)), this.#list('page', PAGE), this.#delete(names)]
    for (const request of last) {
      while (!(await this.#isDone(request))) await sleep(RETRY_MS)
    }
    this.#agent.destroy()
  }

  /** Returns whether a request had a success. */
  async #isDone(request: Request): Promise<boolean> {
    return (await this.#carryOut(request)) && this.#history.operations.at(-1)?.result.state === 'done'
  }

  /** Sends a request to some server; returns whether it was noted. */
  async #carryOut(request: Request): Promise<boolean> {
    const { port } = this.#random.pick(this.#servers)
    const { method, path, headers = [], body, op } = request
    const patience = this.#random.chance(0.04)
      ? IMPATIENCE_MS[0] + this.#random.below(IMPATIENCE_MS[1] - IMPATIENCE_MS[0])
      : PATIENCE_MS
    if (port === null) {
      await sleep(RETRY_MS)
      return false
    }
    const call = this.#history.now()
    try {
      const answer = await send(
        { port, agent: this.#agent, signal: AbortSignal.timeout(patience) },
        {
          method,
          path,
          headers: [
            ['Host', `127.0.0.1:${port}`],
            ACCEPT,
            ['Content-Type', 'application/json'],
            ['Cookie', CSRF.cookie],
            ['X-CSRF-Token', CSRF['x-csrf-token']],
            ...headers,
          ],
          ...(body !== undefined && { body: JSON.stringify(body) }),
        },
      )
      return this.#note(op, call, resultOf(request, answer))
    } catch (error) {
      // Nothing was sent on a connection that was not made.
      if (codeOf(error) === 'ECONNREFUSED') {
        await sleep(RETRY_MS)
        return false
      }
      if (!(error instanceof Error) || (codeOf(error) === undefined && error.name !== 'TimeoutError'))
        throw error
      return this.#note(op, call, { state: 'unknown' })
    }
  }

  /** Notes an operation; a read without a result says nothing. */
  #note(op: Input, call: number, result: Output | null): boolean {
    const isRead = op.kind === 'read' || op.kind === 'count'
    if (result === null || (isRead && result.state !== 'done')) return false
    const isUnknown = result.state === 'unknown'
    const end = isUnknown ? null : this.#history.now()
    this.#history.operations.push({ client: this.#client, call, return: end, op, result })
    if (isUnknown) this.#client = this.#history.newClient()
    return true
  }

  #nextRequest(): Request {
    const name = this.#random.pick(this.#history.names)
    switch (this.#random.below(20)) {
      case 0:
      case 1:
      case 2:
        return this.#get(name)
      case 3:
        return this.#list('page', PAGE)
      case 4:
        return this.#list('where', `/api/records?where=${this.#where()}`)
      case 5:
        return this.#list(
          'filter',
          `/api/records?filter=${encodeURIComponent(`id LIKE '${this.#history.prefix}%'`)}`,
        )
      case 6:
        return this.#list('sorted', `/api/records?where=${this.#where()}&sort=-a`, false)
      case 7:
        return this.#query()
      case 8:
        return this.#count()
      case 9:
      case 10:
        return this.#delete(this.#random.chance(0.3) ? this.#two() : [name])
      case 11:
        return this.#conditionalDelete(name) ?? this.#get(name)
      case 12:
      case 13:
        return this.#upsert(this.#two())
      case 14:
        return this.#upsert(this.#random.chance(0.5) ? [name] : this.#two(), { isNew: true })
      case 15:
      case 16:
        return this.#conditionalUpsert(name) ?? this.#get(name)
      default:
        return this.#upsert([name])
    }
  }

  #get(name: string): Request {
    const known = this.#random.chance(0.3) ? this.#seen.get(name) : undefined
    return {
      op: { kind: 'read', how: known === undefined ? 'get' : 'get unless it has the version', ids: [name] },
      method: 'GET',
      path: `/api/records/${this.#history.idOf(name)}`,
      ...(known !== undefined && { headers: [['If-None-Match', known.tag] as const] }),
      read: ({ status, headers, body }) => {
        if (status === 304 && known !== undefined)
          return { state: 'done', records: [known.record], ordered: true }
        if (status === 404) return { state: 'done', records: [], ordered: true }
        if (status !== 200) return null
        const { a, b } = JSON.parse(body) as Rows[number]
        const tag = String(headers.etag)
        const record = { id: name, a, b, version: tag }
        this.#seen.set(name, { record, tag })
        return { state: 'done', records: [record], ordered: true }
      },
    }
  }

  #list(how: string, path: string, ordered = true): Request {
    return {
      op: { kind: 'read', how, ids: this.#history.names },
      method: 'GET',
      path,
      read: ({ body }) => ({ state: 'done', records: this.#own(JSON.parse(body).records as Rows), ordered }),
    }
  }

  #query(): Request {
    const sql = 'SELECT id, a, b FROM records WHERE id LIKE ?'
    return {
      op: { kind: 'read', how: 'query', ids: this.#history.names },
      method: 'POST',
      path: '/api/query',
      body: { sql, params: [`${this.#history.prefix}%`] },
      read: ({ body }) => ({
        state: 'done',
        records: this.#own(JSON.parse(body).rows as Rows),
        ordered: false,
      }),
    }
  }

  #count(): Request {
    return {
      op: { kind: 'count', how: 'summary', ids: this.#history.names },
      method: 'GET',
      path: `/api/summary?where=${this.#where()}`,
      read: ({ body }) => ({ state: 'done', count: Number(JSON.parse(body).count) }),
    }
  }

  #upsert(
    names: readonly string[],
    { isNew = false, match }: { isNew?: boolean; match?: string } = {},
  ): Request {
    const records = names.map((id) => ({ id, set: this.#values() }))
    const headers: (readonly [string, string])[] = []
    if (isNew) headers.push(['If-None-Match', '*'])
    if (match !== undefined) headers.push(['If-Match', match])
    return {
      op: { kind: 'upsert', records, ...(isNew && { new: true }), ...(match !== undefined && { match }) },
      method: 'POST',
      path: '/api/records',
      headers,
      body: {
        actor: 'agent:history',
        records: records.map(({ id, set }) => ({ id: this.#history.idOf(id), ...set })),
      },
      read: ({ headers: { etag }, body }) => {
        const { inserted, updated } = JSON.parse(body) as { inserted: number; updated: number }
        const [record, ...others] = records
        if (record !== undefined && others.length === 0 && etag !== undefined)
          this.#learn(record.id, record.set, etag)
        return { state: 'done', inserted, updated, ...(etag !== undefined && { version: etag }) }
      },
    }
  }

  /** Returns an update of what this client has last seen of a record; null when it has seen nothing. */
  #conditionalUpsert(name: string): Request | null {
    const tag = this.#seen.get(name)?.tag
    return tag === undefined ? null : this.#upsert([name], { match: this.#random.chance(0.1) ? '*' : tag })
  }

  #conditionalDelete(name: string): Request | null {
    const tag = this.#seen.get(name)?.tag
    return tag === undefined ? null : this.#delete([name], tag)
  }

  #delete(names: readonly string[], match?: string): Request {
    return {
      op: { kind: 'delete', ids: names, ...(match !== undefined && { match }) },
      method: 'DELETE',
      path: `/api/records?ids=${names.map((name) => this.#history.idOf(name)).join(',')}`,
      headers: [
        ['X-Svc-Actor', 'agent:history'],
        ...(match === undefined ? [] : [['If-Match', match] as const]),
      ],
      read: ({ body }) => ({ state: 'done', deleted: Number(JSON.parse(body).deleted) }),
    }
  }

  /** Notes the record after a write of both fields; after another write, its values are not known. */
  #learn(id: string, { a, b }: Values, tag: string): void {
    if (a === undefined || b === undefined) return
    this.#seen.set(id, { record: { id, a, b, version: tag }, tag })
  }

  /** Returns values for one field or both, at least one of them new, so that no record has the same values twice. */
  #values(): Values {
    const value = this.#history.newValue()
    switch (this.#random.below(6)) {
      case 0:
        return { a: value }
      case 1:
        return { b: value }
      case 2:
        return { a: value, b: null }
      default:
        return { a: value, b: this.#history.newValue() }
    }
  }

  /** Returns two different records. */
  #two(): readonly string[] {
    const first = this.#random.pick(this.#history.names)
    return [first, this.#random.pick(this.#history.names.filter((name) => name !== first))]
  }

  #where(): string {
    return encodeURIComponent(
      JSON.stringify({ field: 'id', operator: 'starts_with', value: this.#history.prefix }),
    )
  }

  #own(rows: Rows): readonly RecordOfHistory[] {
    return rows.flatMap(({ id, a, b }) => {
      const name = this.#history.nameOf(id)
      return name === null ? [] : [{ id: name, a, b }]
    })
  }
}

/** Returns what a response says of an operation; null for nothing. Throws for a response that is a bug by itself. */
function resultOf({ op, read }: Request, answer: Answer): Output | null {
  const { status, body } = answer
  if (status < 400 || (status === 404 && op.kind === 'read')) return read(answer)
  const { code } = JSON.parse(body) as { code: string }
  if (code === 'internal_error')
    throw new Error(`an operation ended with an internal error: ${JSON.stringify(op)}`)
  if (status === 412) return { state: 'refused' }
  if (status < 500 && code !== 'store_in_use' && code !== 'query_timeout' && code !== 'too_many_queries') {
    throw new Error(`an operation was refused with ${status}: ${body}: ${JSON.stringify(op)}`)
  }
  return { state: UNKNOWN.has(code) ? 'unknown' : 'failed' }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

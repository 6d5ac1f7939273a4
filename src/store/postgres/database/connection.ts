import { createHash } from 'node:crypto'
import type { ClientBase, CustomTypesConfig, QueryConfig, QueryResult, QueryResultRow } from 'pg'
import type { Query, Statement } from '../../rows/query.ts'
import type { ConnectionWatch } from './connection-watch.ts'

/** A value of a column: bigint and numeric as numbers, bytea as bytes, all types not named here as text. */
export type StoredValue = null | boolean | number | string | Buffer

export type StoredRow = Readonly<Record<string, StoredValue | undefined>>

/** A parameter of a statement. Arrays become arrays of PostgreSQL. */
export type SqlInput =
  null | boolean | number | string | Uint8Array | readonly (number | null)[] | readonly (string | null)[]

/** Carries out statements, each one by the extended protocol and prepared once for a connection. */
export interface Connection {
  /** Returns the rows. */
  all(sql: string, ...params: readonly SqlInput[]): Promise<StoredRow[]>
  /** Returns the first row; undefined for none. */
  get(sql: string, ...params: readonly SqlInput[]): Promise<StoredRow | undefined>
  /** Returns how many rows the statement affected. */
  run(sql: string, ...params: readonly SqlInput[]): Promise<number>
  /** Carries out a statement that both engines share, and returns what its rows mean. */
  query<T>(query: Query<T>): Promise<T>
  /** Carries out a statement that both engines share, and returns how many rows it changed. */
  change(statement: Statement): Promise<number>
  /** Runs statements without parameters and results, in one round trip. */
  exec(sql: string): Promise<void>
  /** Runs a statement of another program; its result has the types of node-postgres. */
  foreign(sql: string, params?: readonly unknown[]): Promise<{ rows: unknown[] }>
}

/** The number of statements that are prepared, the first of the process; later ones are parsed each time. */
const STATEMENT_LIMIT = 500

const NAMES = new Map<string, string>()

/** Returns the statement as node-postgres takes it. */
export function statement(sql: string, params: readonly SqlInput[]): QueryConfig & { queryMode: 'extended' } {
  const name = nameOf(sql)
  const values: unknown[] = params.map(storable)
  return name === null
    ? { text: sql, values, types: TYPES, queryMode: 'extended' }
    : { name, text: sql, values, types: TYPES, queryMode: 'extended' }
}

/** Replaces U+0000, which PostgreSQL cannot store and messages of others can contain, with U+FFFD. */
function storable(param: SqlInput): unknown {
  if (typeof param === 'string') return withoutNull(param)
  if (!Array.isArray(param)) return param
  return (param as readonly unknown[]).map((item) => (typeof item === 'string' ? withoutNull(item) : item))
}

function withoutNull(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
}

const NUMBERED = new Map<string, string>()

/** Returns a statement that both engines share with parameters as PostgreSQL writes them: `$1` for `?1`. */
function numbered(sql: string): string {
  let known = NUMBERED.get(sql)
  if (known === undefined) {
    known = sql.replaceAll(/\?(?=\d)/g, '$$')
    if (NUMBERED.size < STATEMENT_LIMIT) NUMBERED.set(sql, known)
  }
  return known
}

function nameOf(sql: string): string | null {
  const known = NAMES.get(sql)
  if (known !== undefined || NAMES.size >= STATEMENT_LIMIT) return known ?? null
  const name = createHash('sha256').update(sql).digest('base64url').slice(0, 32)
  NAMES.set(sql, name)
  return name
}

/** A client as {@link Connection}; errors come as node-postgres throws them. */
export class ClientConnection implements Connection {
  readonly client: ClientBase
  readonly #watch: ConnectionWatch | null
  #previous: Promise<unknown> = Promise.resolve()

  /** `watch` ends the connection when it is lost without notice; null for none. */
  constructor(client: ClientBase, watch: ConnectionWatch | null = null) {
    this.client = client
    this.#watch = watch
  }

  async all(sql: string, ...params: readonly SqlInput[]): Promise<StoredRow[]> {
    return (await this.#send<Record<string, StoredValue>>(statement(sql, params))).rows
  }

  /**
   * Returns the rows of a statement that is planned at each call, for the present sizes of its tables: the plan for a small table would be
   * too slow once that has grown.
   */
  async plannedAnew(sql: string, ...params: readonly SqlInput[]): Promise<StoredRow[]> {
    const { name: _, ...unnamed } = statement(sql, params)
    return (await this.#send<Record<string, StoredValue>>(unnamed)).rows
  }

  async get(sql: string, ...params: readonly SqlInput[]): Promise<StoredRow | undefined> {
    return (await this.all(sql, ...params))[0]
  }

  async run(sql: string, ...params: readonly SqlInput[]): Promise<number> {
    return (await this.#send(statement(sql, params))).rowCount ?? 0
  }

  async query<T>({ sql, params, result }: Query<T>): Promise<T> {
    return result(await this.all(numbered(sql), ...params))
  }

  change({ sql, params }: Statement): Promise<number> {
    return this.run(numbered(sql), ...params)
  }

  async exec(sql: string): Promise<void> {
    await this.#send({ text: sql })
  }

  foreign(sql: string, params?: readonly unknown[]): Promise<{ rows: unknown[] }> {
    if (params === undefined) return this.#send({ text: sql })
    const name = nameOf(sql)
    return this.#send({ text: sql, values: [...params], ...(name !== null && { name }) })
  }

  /** Sends one query at a time, as node-postgres requires: code for many cells sends its queries at once. */
  #send<R extends QueryResultRow>(query: QueryConfig): Promise<QueryResult<R>> {
    const send = async (): Promise<QueryResult<R>> => {
      this.#watch?.started(this.client)
      try {
        return await this.client.query<R>(query)
      } finally {
        this.#watch?.ended(this.client)
      }
    }
    const result = this.#previous.then(send, send)
    this.#previous = result
    return result
  }

  /** Runs statements without parameters in one round trip; returns the rows of the last. */
  async execForRows(sql: string): Promise<StoredRow[]> {
    return (await this.#last(sql)).rows
  }

  /** The same; returns the command name of the last, as PostgreSQL reports it. */
  async execForCommand(sql: string): Promise<string> {
    return (await this.#last(sql)).command
  }

  async #last(sql: string): Promise<QueryResult<Record<string, StoredValue>>> {
    // For several statements node-postgres returns several results, contrary to its types.
    const results: unknown = await this.#send({ text: sql, types: TYPES })
    return (Array.isArray(results) ? results.at(-1) : results) as QueryResult<Record<string, StoredValue>>
  }
}

const PARSERS: Readonly<Record<number, (text: string) => StoredValue>> = {
  16: (text) => text === 't',
  17: (text) => Buffer.from(text.slice(2), 'hex'),
  20: Number,
  21: Number,
  23: Number,
  26: Number,
  700: Number,
  701: Number,
  1700: Number,
}

const asText = (text: string): string => text

/** Parsers of column values, by the OID of their type. */
export const TYPES: CustomTypesConfig = {
  getTypeParser: ((oid: number) => PARSERS[oid] ?? asText) as CustomTypesConfig['getTypeParser'],
}

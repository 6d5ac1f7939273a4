import type { Client, FieldDef } from 'pg'
import { ClientConnection, type Connection } from '../database/connection.ts'
import { isConnectionFault } from '../database/errors.ts'
import { quoted } from '../database/schema.ts'
import type { SqlNames } from './sql-checks.ts'
import { checkNames } from './sql-guard.ts'
import { ParseStatement, RunParsed, type ColumnText, type ParsedRun, type TypedParam } from './wire-query.ts'

/**
 * One transaction that only reads, in one state of the store. In it SQL from users runs as the role that may read the records
 * alone, and the store's own statements as the store's user. It is never committed: whatever a statement could have changed
 * for the session is as it was before.
 */
export class SqlSession {
  readonly #client: Client
  readonly #role: string
  /** Statements of ours that go with the next one. */
  #before = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

  constructor(client: Client, role: string) {
    this.#client = client
    this.#role = role
  }

  /** What comes next is SQL from a user with these names, until {@link release}. Throws QueryError. */
  async confine(names: SqlNames | null): Promise<void> {
    if (names !== null) await checkNames(this.own(), names)
    this.#before += `; SET LOCAL ROLE ${quoted(this.#role)}`
  }

  /** What comes next is the store's own. */
  release(): void {
    this.#before += '; SET LOCAL ROLE NONE'
  }

  /** Statements of the store's own; before {@link confine} or after {@link release}. */
  own(): Pick<Connection, 'all' | 'get'> {
    const db = new ClientConnection(this.#client)
    return {
      all: async (sql, ...params) => {
        await this.#catchUp()
        return db.all(sql, ...params)
      },
      get: async (sql, ...params) => {
        await this.#catchUp()
        return db.get(sql, ...params)
      },
    }
  }

  /** Has one statement parsed, and answers with the columns of its result. */
  async parse(text: string, params: readonly TypedParam[]): Promise<readonly FieldDef[]> {
    await this.#catchUp()
    const types = params.map(({ type }) => type)
    return this.#client.query(new ParseStatement(text, types)).answer
  }

  /** Runs what was parsed last. */
  run(run: ParsedRun): Promise<void> {
    return this.#client.query(new RunParsed(run)).answer
  }

  /** All rows of a statement; for answers that are short. */
  async rows(text: string, params: readonly TypedParam[] = []): Promise<(readonly ColumnText[])[]> {
    const rows: (readonly ColumnText[])[] = []
    await this.#catchUp()
    const run = {
      values: params.map((param) => param.text),
      rows: 0,
      onRow: (row: readonly ColumnText[]) => void rows.push(row),
    }
    const types = params.map(({ type }) => type)
    await this.#client.query(new RunParsed(run, { text, types })).answer
    return rows
  }

  /** Ends the transaction. */
  async end(): Promise<void> {
    await this.#client.query('ROLLBACK')
  }

  async #catchUp(): Promise<void> {
    if (this.#before === '') return
    const sql = this.#before.replace(/^; /, '')
    this.#before = ''
    try {
      await this.#client.query(sql)
    } catch (error) {
      throw sql.startsWith('BEGIN') && isConnectionFault(error) ? new LostAtRest(error) : error
    }
  }
}

/** The connection was lost before anything was asked of it, as when the database was started anew meanwhile. */
export class LostAtRest extends Error {
  constructor(cause: unknown) {
    super('the connection was lost while it was at rest', { cause })
  }
}

import type { Client, FieldDef } from 'pg'
import { ClientConnection, type Connection } from '../database/connection.ts'
import { isConnectionFault, sqlState } from '../database/errors.ts'
import { quoted } from '../database/schema.ts'
import type { SqlNames } from './sql-checks.ts'
import { checkNames } from './sql-guard.ts'
import { ParseStatement, RunParsed, type ColumnText, type ParsedRun, type TypedParam } from './wire-query.ts'

/**
 * One read-only transaction in one state of the store. In it SQL from users runs as the role that may only read the
 * records, and the store's own statements as the store's user. It is never committed, so that settings which a statement
 * has changed are restored.
 */
export class SqlSession {
  readonly #client: Client
  readonly #role: string
  /** The store's own statements to send before the next one. */
  #before = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

  constructor(client: Client, role: string) {
    this.#client = client
    this.#role = role
  }

  /**
   * Makes the following statements run as the role for users, until {@link release}. `names` are those of the SQL. Throws
   * QueryError.
   */
  async confine(names: SqlNames | null): Promise<void> {
    if (names !== null) await checkNames(this.own(), names)
    this.#before += `; SET LOCAL ROLE ${quoted(this.#role)}`
  }

  /** Makes the following statements run as the store's user. */
  release(): void {
    this.#before += '; SET LOCAL ROLE NONE'
  }

  /** Returns a connection for the store's own statements; before {@link confine} or after {@link release}. */
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

  /** Parses one statement, and returns the columns of its result. */
  async parse(text: string, params: readonly TypedParam[]): Promise<readonly FieldDef[]> {
    await this.#catchUp()
    const types = params.map(({ type }) => type)
    return this.#client.query(new ParseStatement(text, types)).done
  }

  /** The same, but returns null for a statement that PostgreSQL refuses; what was parsed before is forgotten. */
  async tryParse(text: string, params: readonly TypedParam[]): Promise<readonly FieldDef[] | null> {
    this.#before += '; SAVEPOINT attempt'
    await this.#catchUp()
    try {
      return await this.parse(text, params)
    } catch (error) {
      if (sqlState(error) === undefined || isConnectionFault(error)) throw error
      this.#before += '; ROLLBACK TO SAVEPOINT attempt'
      return null
    }
  }

  /** Runs the statement that was parsed last. */
  run(run: ParsedRun): Promise<void> {
    return this.#client.query(new RunParsed(run)).done
  }

  /** Returns all rows of a statement; for short results. */
  async rows(text: string, params: readonly TypedParam[] = []): Promise<(readonly ColumnText[])[]> {
    const rows: (readonly ColumnText[])[] = []
    await this.#catchUp()
    const run = {
      values: params.map((param) => param.text),
      rows: 0,
      onRow: (row: readonly ColumnText[]) => void rows.push(row),
    }
    const types = params.map(({ type }) => type)
    await this.#client.query(new RunParsed(run, { text, types })).done
    return rows
  }

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

/** The connection was lost before anything was sent on it, as when the database was restarted meanwhile. */
export class LostAtRest extends Error {
  constructor(cause: unknown) {
    super('the connection was lost while it was at rest', { cause })
  }
}

import type { TestContext } from 'node:test'
import { parseContract } from '../../src/contract/odcs/parse-contract.ts'
import type { Field } from '../../src/contract/contract.ts'
import { QueryError } from '../../src/errors/service-error.ts'
import { DatabaseSync } from 'node:sqlite'
import { runPage } from '../../src/store/sqlite/sql/run-page.ts'
import { runQuery } from '../../src/store/sqlite/sql/run-query.ts'
import { ResultWriter } from '../../src/store/sqlite/sql/sql-result.ts'
import { SqlDatabase } from '../../src/store/sqlite/sql/sql-database.ts'
import { toQueryError } from '../../src/store/sqlite/sql/sql-errors.ts'
import { onEnd } from './on-end.ts'

/** Matches SQL whose result differs each time. */
const UNSTEADY = /random|now|current_|julianday|unixepoch|strftime|date|time/i

/** Most rows of a query and most records of a page. */
interface AloneLimits {
  readonly maxRows: number
  readonly limit: number
}

/** A store with the records of another and nothing else, queried in this process. */
export class RecordsAlone {
  readonly #database: SqlDatabase
  readonly #fields: readonly Field[]
  readonly #limits: AloneLimits

  private constructor(path: string, fields: readonly Field[], limits: AloneLimits) {
    this.#database = new SqlDatabase(path)
    this.#fields = fields
    this.#limits = limits
  }

  /** Copies the records of a store; the copy is closed when the test ends and removed with its directory. */
  static of(t: TestContext, path: string, limits: AloneLimits): RecordsAlone {
    const source = new DatabaseSync(path, { readOnly: true })
    const contract = String(source.prepare('SELECT contract FROM "$sheet"').get()?.['contract'])
    source.close()
    const copy = `${path}-records`
    copyRecordsAlone(path, copy)
    const alone = new RecordsAlone(copy, parseContract(contract).fields, limits)
    onEnd(t, () => alone.#database.close())
    return alone
  }

  /** Returns the outcome of a text here; null if it differs each time. Only for texts that are known to end. */
  outcomeOf(
    kind: 'query' | 'filter',
    text: string,
  ): { readonly answer: string } | { readonly message: string } | null {
    if (UNSTEADY.test(text)) return null
    const chunks: Buffer[] = []
    const answer = new ResultWriter((chunk) => chunks.push(Buffer.from(chunk)))
    const allFields = this.#fields
    try {
      if (kind === 'query')
        runQuery(this.#database, { sql: text, params: [], allFields, maxRows: this.#limits.maxRows }, answer)
      else
        runPage(
          this.#database,
          {
            filter: text,
            limit: this.#limits.limit,
            after: null,
            sort: [],
            skip: 0,
            fields: allFields,
            allFields,
          },
          answer,
        )
      answer.finish()
      return { answer: Buffer.concat(chunks).toString() }
    } catch (error) {
      const known = toQueryError(error)
      if (!(known instanceof QueryError)) throw known
      return { message: known.message }
    }
  }
}

/**
 * Makes a copy of a store with empty other tables and the same `records`, but other values in their internal columns: SQL from a user with
 * the same result on both depends on `records` alone.
 */
function copyRecordsAlone(path: string, copy: string): void {
  const source = new DatabaseSync(path, { readOnly: true })
  source.exec(`VACUUM INTO '${copy}'`)
  source.close()
  const database = new DatabaseSync(copy, { defensive: false })
  const tables = database
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE '$%'`)
    .all()
  for (const { name } of tables) {
    if (name === '$data') database.exec('UPDATE "$data" SET "$seq" = -"$seq"')
    else database.exec(`DELETE FROM "${String(name)}"`)
  }
  // In two steps, since keys must be unique at every moment.
  database.exec('UPDATE "$data" SET "$seq" = 7 - 1000 * "$seq", "$version" = 0')
  database.close()
}

import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { JsonValue } from '../../../contract/json/json.ts'
import { QueryError } from '../../../errors/service-error.ts'
import { MAX_FORMULA_VALUES, type FormulaRow } from '../../formula.ts'
import type { QueryRow, RecordsQuery } from '../../records-query.ts'
import { notDeterministicInQuery, severalRows, valueTooLarge } from '../../rules/sql/sql-errors.ts'
import { quoted } from '../database/schema.ts'
import { toColumn } from '../database/values.ts'
import { jsonOf } from './formula-table.ts'
import { QueryTable } from './query-table.ts'
import { checkRecordsQuery, type CheckedQuery } from './sql-checks.ts'
import { toQueryError } from './sql-errors.ts'
import { DATE_FUNCTIONS } from './sql-functions.ts'
import type { RecordsQueryOutcome, RecordsQueryRequest } from './sql-protocol.ts'
import type { ResultWriter } from './sql-result.ts'
import { rowsOf } from './statement-rows.ts'

/** Milliseconds after which no other record of a request is begun. */
const TURN_MS = 1000

/** Copies that are kept: the queries of a level are computed side by side. */
const KEPT = 4

/** The most indexes of a copy, and the most columns of one. */
const MOST_INDEXES = 4
const INDEX_COLUMNS = 6

/** The most results of a copy that are kept for records with the same values. */
const KEPT_RESULTS = 50_000

/**
 * Runs queries of derivations in a query process: over a copy in memory of the columns that a query reads, so that all records are computed
 * from one state, with an index for each column that the query compares.
 */
export class QueryRunner {
  readonly #path: string
  /** The latest copies, by query and version. */
  readonly #copies = new Map<string, QueryCopy>()

  constructor(path: string) {
    this.#path = path
  }

  /** Writes the JSON array of the outcomes. Throws QueryError. */
  run({ query, version, rows }: RecordsQueryRequest, writer: ResultWriter): void {
    const end = performance.now() + TURN_MS
    const copy = this.#copy(query, version)
    let left = MAX_FORMULA_VALUES
    writer.text('[')
    for (const [index, row] of rows.entries()) {
      let json = copy.outcome(row)
      if (json.length > MAX_FORMULA_VALUES) {
        json = JSON.stringify({ error: valueTooLarge().message } satisfies RecordsQueryOutcome)
      }
      left -= json.length
      if (index > 0 && (left < 0 || performance.now() > end)) break
      writer.text(`${index === 0 ? '' : ','}${json}`)
    }
    writer.text(']')
  }

  #copy(query: RecordsQuery, version: string): QueryCopy {
    const name = JSON.stringify(query)
    const known = this.#copies.get(name)
    this.#copies.delete(name)
    if (known !== undefined && known.version !== version) known.close()
    // Before another copy is filled, since all of them share the memory of the process.
    const [oldest] = this.#copies.entries()
    if (this.#copies.size === KEPT && oldest !== undefined) {
      this.#copies.delete(oldest[0])
      oldest[1].close()
    }
    const copy = known?.version === version ? known : new QueryCopy(this.#path, query, version)
    this.#copies.set(name, copy)
    return copy
  }
}

/** The columns that a query reads, of all records in one state, in memory. */
class QueryCopy {
  readonly version: string
  readonly #query: RecordsQuery
  readonly #checked: CheckedQuery
  readonly #table: QueryTable
  readonly #statement: StatementSync
  readonly #results = new Map<string, string>()
  readonly #dates: DateFunctions

  constructor(path: string, query: RecordsQuery, version: string) {
    const { statement, listed, inputs, reads } = query
    this.version = version
    this.#query = query
    this.#checked = checkRecordsQuery(statement, { listed, fields: inputs })
    this.#table = new QueryTable(reads, 1)
    this.#dates = new DateFunctions(this.#table.database)
    try {
      this.#fill(path)
      this.#statement = this.#table.prepare(this.#checked)
    } catch (error) {
      this.close()
      throw error
    }
    this.#statement.setReadBigInts(true)
  }

  #fill(path: string): void {
    const { database } = this.#table
    const columns = this.#query.reads.map(({ name }) => quoted(name))
    database.prepare('ATTACH ? AS sheet').run(`${pathToFileURL(path).href}?mode=ro`)
    database.exec(`BEGIN; INSERT INTO main.records SELECT ${columns.length === 0 ? 'NULL' : columns.join(', ')}
      FROM sheet."$data" ORDER BY "$seq"; COMMIT; DETACH sheet`)
    const compared = columns.filter((_, index) => {
      const name = this.#query.reads[index]?.name.toLowerCase() ?? ''
      return this.#checked.compared.has(name)
    })
    for (const [index, column] of compared.slice(0, MOST_INDEXES).entries()) {
      const covered = [column, ...columns.filter((other) => other !== column)].slice(0, INDEX_COLUMNS)
      database.exec(`CREATE INDEX "$by${index}" ON records (${covered.join(', ')})`)
    }
    database.exec('PRAGMA query_only = ON')
  }

  /** Returns the JSON of the {@link RecordsQueryOutcome} for the values of the inputs. */
  outcome(row: FormulaRow): string {
    const key = JSON.stringify(row)
    const known = this.#results.get(key)
    if (known !== undefined) return known
    const json = JSON.stringify(this.#compute(row))
    if (this.#results.size === KEPT_RESULTS) this.#results.clear()
    this.#results.set(key, json)
    return json
  }

  #compute(row: FormulaRow): RecordsQueryOutcome {
    try {
      return { row: this.#table.confined(this.#checked.names, () => this.#first(row)) }
    } catch (error) {
      if (!(error instanceof QueryError)) throw error
      return { error: error.message }
    }
  }

  /** Returns the row to use. Throws QueryError. */
  #first(row: FormulaRow): QueryRow {
    const { inputs } = this.#query
    const values = this.#checked.inputs.map((name): SQLInputValue => {
      const value = row[inputs.findIndex((input) => input.name === name)] ?? null
      return bound(value)
    })
    let first: QueryRow = null
    for (const values_ of rowsOf(this.#statement, values)) {
      if (first !== null) throw severalRows()
      first = this.#row(values_)
      if (this.#checked.isOrdered) break
    }
    return first
  }

  #row(values: readonly SQLOutputValue[]): NonNullable<QueryRow> {
    const { targets } = this.#query
    const names = this.#statement.columns().map(({ name }) => name)
    return Object.fromEntries(
      targets.map(({ name, type }) => {
        const index = targets.length === 1 && names.length === 1 ? 0 : names.indexOf(name)
        if (index === -1) throw new QueryError(`the query has no column ${name}`)
        return [name, jsonOf(values[index] ?? null, type)]
      }),
    )
  }

  close(): void {
    this.#dates.close()
    this.#table.close()
  }
}

/** Binds a value of a field; a whole number as INTEGER, so that it divides and prints like one. */
function bound(value: JsonValue): SQLInputValue {
  return Number.isSafeInteger(value) ? BigInt(value as number) : toColumn(value)
}

/**
 * The functions of date and time without the current time and the time zone of the machine, which values of records could name in several
 * ways. They are computed as a generated column, in which SQLite itself refuses both.
 */
class DateFunctions {
  readonly #database = new DatabaseSync(':memory:')
  readonly #statements = new Map<string, StatementSync>()

  /** Replaces the functions of a database. */
  constructor(database: DatabaseSync) {
    for (const name of DATE_FUNCTIONS) {
      database.function(
        name,
        { varargs: true, deterministic: true, useBigIntArguments: true },
        (...args: readonly SQLOutputValue[]) => this.#call(name, args),
      )
    }
  }

  #call(name: string, args: readonly SQLOutputValue[]): SQLInputValue {
    try {
      const row = this.#statement(name, args.length).get(...args) as unknown as readonly SQLInputValue[]
      return row[0] ?? null
    } catch (error) {
      const known = toQueryError(error)
      const isRefused = known instanceof QueryError && known.message.startsWith('non-deterministic use of')
      throw isRefused ? notDeterministicInQuery(`${name}() of this value`) : known
    }
  }

  #statement(name: string, count: number): StatementSync {
    const key = `${name} ${count}`
    let statement = this.#statements.get(key)
    if (statement === undefined) {
      // Columns without a type keep the values as they are.
      const args = Array.from({ length: count }, (_, index) => `a${index}`)
      this.#database.exec(
        `CREATE TABLE "${key}" (${['key INTEGER PRIMARY KEY', ...args, `value AS (${name}(${args.join()}))`].join()})`,
      )
      statement = this.#database.prepare(
        `REPLACE INTO "${key}" (${['key', ...args].join()}) VALUES (${['1', ...args.map(() => '?')].join()}) RETURNING value`,
      )
      statement.setReturnArrays(true)
      statement.setReadBigInts(true)
      this.#statements.set(key, statement)
    }
    return statement
  }

  close(): void {
    this.#database.close()
  }
}

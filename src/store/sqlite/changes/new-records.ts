import type { SQLInputValue, StatementSync } from 'node:sqlite'
import type { Contract } from '../../../contract/contract.ts'
import type { NewRecord } from '../../rules/store-change.ts'
import type { Connection } from '../database/connection.ts'
import type { CellStates } from './cell-states.ts'
import { quoted } from '../database/schema.ts'
import { toColumn } from '../database/values.ts'

/**
 * Records that one statement inserts, which is faster than one by one. With the 1,000 fields that a contract may have, the
 * statement takes half of the parameters that SQLite allows.
 */
const AT_ONCE = 16

/** The new records of a batch, with the states of their cells. {@link flush} inserts the last of them. */
export class NewRecords {
  readonly #db: Connection
  readonly #cells: CellStates
  readonly #sql: InsertSql
  /** The statement for a full group; kept, since to look it up by its text would take long. */
  #insertAll: StatementSync | null = null
  #waiting: NewRecord[] = []

  constructor({ db, contract, cells }: { db: Connection; contract: Contract; cells: CellStates }) {
    this.#db = db
    this.#cells = cells
    this.#sql = insertSql(contract)
  }

  add(record: NewRecord): void {
    this.#waiting.push(record)
    if (this.#waiting.length === AT_ONCE) this.flush()
  }

  flush(): void {
    const records = this.#waiting
    if (records.length === 0) return
    this.#waiting = []
    const row: SQLInputValue[] = []
    for (const { key, seq, values } of records) {
      row.push(key, seq)
      for (const value of values) row.push(toColumn(value))
    }
    this.#insert(records.length).run(...row)
    this.#cells.created(records)
  }

  drop(): void {
    this.#waiting = []
  }

  #insert(count: number): StatementSync {
    const { first, further } = this.#sql
    const prepare = (): StatementSync => this.#db.prepare(first + further.repeat(count - 1))
    if (count < AT_ONCE) return prepare()
    this.#insertAll ??= prepare()
    return this.#insertAll
  }
}

/** The SQL that inserts a record, and the SQL to append for each further one. */
interface InsertSql {
  readonly first: string
  readonly further: string
}

const INSERT_SQL = new WeakMap<Contract, InsertSql>()

/** Returns the SQL for a contract, made once. */
function insertSql(contract: Contract): InsertSql {
  let sql = INSERT_SQL.get(contract)
  if (sql === undefined) {
    const names = contract.fields.map(({ name }) => quoted(name))
    const places = `(?, ?${', ?'.repeat(names.length)})`
    sql = {
      first: `INSERT INTO "$data" ("$seq", "$version", ${names.join(', ')}) VALUES ${places}`,
      further: `, ${places}`,
    }
    INSERT_SQL.set(contract, sql)
  }
  return sql
}

import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { JsonObject } from '../../contract/json/json.ts'
import type { Condition } from '../condition.ts'
import { noSql } from '../rules/sql/condition-compiler.ts'
import { COLUMN_TYPES, quoted } from '../sqlite/database/schema.ts'
import { toColumn } from '../sqlite/database/values.ts'
import { bindCondition } from '../sqlite/sql/condition-sql.ts'
import type { TypedField } from '../sqlite/sql/json-columns.ts'
import { DATA, filteredRecords } from '../sqlite/sql/run-page.ts'
import { sortColumns, sortOrder, type SortTerm } from '../sqlite/sql/sort-sql.ts'
import { rowsOf } from '../sqlite/sql/statement-rows.ts'

/** The records that are selected, and their order. */
export interface OrderQuery {
  /** The fields that the condition and the order name. */
  readonly fields: readonly TypedField[]
  /** Null for all records. It has no condition on cells. */
  readonly where: Condition | null
  /** The order; that in which the records are added where these fields are equal. */
  readonly sort: readonly SortTerm[]
}

/**
 * Records of an earlier state of a sheet, with the fields of a query, in a database of their own. It is in a file that SQLite deletes, so
 * that many records take little memory.
 */
export class PastTable {
  readonly #database = new DatabaseSync('')
  readonly #query: OrderQuery
  readonly #insert: StatementSync
  #count = 0

  constructor(query: OrderQuery) {
    this.#query = query
    const columns = query.fields.map(({ name, type }) => `, ${quoted(name)} ${COLUMN_TYPES[type]}`)
    this.#database.exec(`
      PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE; PRAGMA cache_size = -16384;
      CREATE TABLE ${DATA} ("$seq" INTEGER PRIMARY KEY${columns.join('')});
      BEGIN
    `)
    this.#insert = this.#database.prepare(`INSERT INTO ${DATA} VALUES (?${', ?'.repeat(columns.length)})`)
  }

  /** Adds the records of a JSON array. */
  add(page: Uint8Array): void {
    const { fields } = this.#query
    for (const record of JSON.parse(Buffer.from(page).toString()) as readonly JsonObject[]) {
      this.#insert.run(this.#count, ...fields.map(({ name }) => toColumn(record[name] ?? null)))
      this.#count += 1
    }
  }

  /** Returns the numbers of the selected records, counted from 0 as they were added, in their order. */
  order(): Uint32Array {
    const { where, sort, fields } = this.#query
    const bound = where === null ? null : bindCondition(where, DATA, noSql)
    const columns = ['"$seq"', ...fields.map(({ name }) => quoted(name))].join(', ')
    const { sql, params } = filteredRecords(columns, { filter: null, where: bound })
    const found = `SELECT "$seq" FROM (SELECT "$seq"${sortColumns(sort)} FROM ${sql}) ORDER BY ${sortOrder(sort)}`
    const order = new Uint32Array(this.#count)
    let count = 0
    for (const [number] of rowsOf(this.#database.prepare(found), params)) {
      order[count] = Number(number)
      count += 1
    }
    return order.slice(0, count)
  }

  close(): void {
    this.#database.close()
  }
}

import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { QueryError } from '../../../errors/service-error.ts'
import type { FormulaField, QueryReader } from '../../formula.ts'
import { duplicateColumn, notDeterministicInQuery } from '../../rules/sql/sql-errors.ts'
import { COLUMN_TYPES, quoted } from '../database/schema.ts'
import { checkRecordsQuery, type CheckedQuery } from './sql-checks.ts'
import { toQueryError } from './sql-errors.ts'
import { SqlGuard } from './sql-guard.ts'
import { ENGINE_LIMITS } from './sql-limits.ts'

/** Functions whose result depends on more than their arguments; those for dates are checked apart, by their arguments. */
const VOLATILE = /^(?:random|randomblob|current_date|current_time|current_timestamp)$/

/** A table in memory, called `records`, over which queries of derivations are prepared and run; nothing else is in its database. */
export class QueryTable {
  readonly database: DatabaseSync
  readonly #guard: SqlGuard
  readonly #reads = new Set<string>()

  /** `attached` is the number of databases that may be attached to fill the table. */
  constructor(fields: readonly FormulaField[], attached = 0) {
    this.database = new DatabaseSync(':memory:', {
      defensive: true,
      allowExtension: false,
      enableDoubleQuotedStringLiterals: false,
      limits: { ...ENGINE_LIMITS, attach: attached },
    })
    this.database.exec('PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; PRAGMA journal_mode = OFF')
    const columns = fields.map(({ name, type }) => `${quoted(name)} ${COLUMN_TYPES[type]}`)
    // A table needs a column; no field has this name.
    this.database.exec(`CREATE TABLE records (${columns.length === 0 ? '"$none"' : columns.join(', ')})`)
    const known = new Set(fields.map(({ name }) => name))
    this.#guard = new SqlGuard(this.database, {
      read: (column) => {
        // Besides the columns a table has the numbers of its rows.
        if (column === '') return null
        if (!known.has(column)) return new QueryError(`no such column: ${column.toLowerCase()}`)
        this.#reads.add(column)
        return null
      },
      call: (name) =>
        VOLATILE.test(name)
          ? notDeterministicInQuery(name.startsWith('current_') ? name : `${name}()`)
          : null,
    })
  }

  /** The names of the columns that the prepared statements read. */
  get reads(): ReadonlySet<string> {
    return this.#reads
  }

  /** Prepares a query. Throws QueryError. */
  prepare({ text, names }: CheckedQuery): StatementSync {
    return this.confined(names, () => {
      const statement = this.database.prepare(text)
      // The scan found one statement; if SQLite stopped reading earlier, they disagree on where it ends.
      if (statement.sourceSQL !== text) throw new QueryError('only one statement can be run', 'not_select')
      return statement
    })
  }

  /** Runs `action`, in which a query is prepared or run. Throws QueryError. */
  confined<T>(names: ReadonlySet<string>, action: () => T): T {
    try {
      return this.#guard.confine(names, action)
    } catch (error) {
      throw toQueryError(error)
    }
  }

  close(): void {
    this.database.close()
  }
}

/** Checks a query for SQLite; see {@link QueryReader}. */
export const readQuery: QueryReader = (statement, of) => {
  const checked = checkRecordsQuery(statement, of)
  const table = new QueryTable(of.fields)
  try {
    const columns = table.prepare(checked).columns()
    const names = columns.map(({ name }) => name)
    const twice = names.find((name, index) => names.indexOf(name) !== index)
    if (twice !== undefined) throw duplicateColumn(twice)
    return {
      inputs: checked.inputs,
      reads: of.fields.flatMap(({ name }) => (table.reads.has(name) ? [name] : [])),
      columns: names,
    }
  } finally {
    table.close()
  }
}

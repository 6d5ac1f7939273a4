import { constants, DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import { isJsonObject, type JsonValue } from '../../../contract/json/json.ts'
import { QueryError } from '../../../errors/service-error.ts'
import {
  MAX_FORMULA_VALUES,
  type Formula,
  type FormulaField,
  type FormulaReader,
  type FormulaRow,
} from '../../formula.ts'
import {
  aggregateInFormula,
  notDeterministic,
  subqueryInFormula,
  valueTooLarge,
} from '../../rules/sql/sql-errors.ts'
import { COLUMN_TYPES, quoted } from '../database/schema.ts'
import { toColumn } from '../database/values.ts'
import { checkFormula } from './sql-checks.ts'
import { toQueryError } from './sql-errors.ts'
import { ALLOWED_FUNCTIONS } from './sql-functions.ts'
import { ENGINE_LIMITS } from './sql-limits.ts'
import type { FormulaOutcome, FormulaRequest } from './sql-protocol.ts'
import type { ResultWriter } from './sql-result.ts'

/** The table in memory that holds one record. Its name cannot be that of a field. */
const TABLE = '$record'

/** The column that SQLite computes from the others. */
const VALUE = '$value'

/** The column by which the record is replaced. */
const KEY = '$key'

/** The name of a field (D5), in quotes or not. */
const COLUMN_NAME = /^(?:[A-Za-z_][A-Za-z0-9_]*|"[A-Za-z_][A-Za-z0-9_]*")$/

/**
 * A table in memory with one record and a column that SQLite generates from it. Generated columns have the rules that a formula needs:
 * SQLite refuses subqueries, aggregates and functions that are not deterministic, and `date('now')` fails when it is computed.
 */
export class FormulaTable {
  readonly #database: DatabaseSync
  /** The type of the results: that of the field if the formula is one, as in a query, otherwise that of the target. */
  readonly #type: Formula['type']
  readonly #fields: Set<string>
  readonly #write: StatementSync
  readonly #read: StatementSync

  /** Checks the formula. Throws QueryError. */
  constructor(formula: Formula) {
    const { expression, inputs } = formula
    checkFormula(expression)
    this.#database = new DatabaseSync(':memory:', {
      defensive: true,
      allowExtension: false,
      enableDoubleQuotedStringLiterals: false,
      limits: ENGINE_LIMITS,
    })
    try {
      this.#database.exec(
        'PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; PRAGMA journal_mode = OFF',
      )
      this.#fields = this.#create(expression, inputs)
      this.#type = this.#copied(expression, inputs) ?? formula.type
      const columns = [quoted(KEY), ...inputs.map(({ name }) => quoted(name))]
      const values = columns.map((_, index) => (index === 0 ? '1' : '?'))
      this.#write = this.#database.prepare(
        `REPLACE INTO "${TABLE}" (${columns.join()}) VALUES (${values.join()})`,
      )
      this.#read = this.#database.prepare(`SELECT "${VALUE}" FROM "${TABLE}"`)
    } catch (error) {
      this.close()
      throw told(error)
    }
    this.#read.setReadBigInts(true)
    this.#read.setReturnArrays(true)
  }

  /** The names of the fields that the formula reads. */
  get fields(): ReadonlySet<string> {
    return this.#fields
  }

  /** Returns the value for one record. Throws QueryError. */
  compute(row: FormulaRow): JsonValue {
    try {
      this.#write.run(...row.map(toColumn))
      const [value = null] = this.#read.get() as unknown as readonly SQLOutputValue[]
      return jsonOf(value, this.#type)
    } catch (error) {
      throw told(error)
    }
  }

  /**
   * Gives a field another name, in quotes or not, and returns the definition of the table before and after: SQLite renames columns in
   * formulas. Throws QueryError, also for a name that no field can have, which could be SQL.
   */
  rename(from: string, to: string): { readonly before: string; readonly after: string } {
    if (!COLUMN_NAME.test(to)) throw new QueryError('the new name is not that of a field')
    const before = this.#definition()
    try {
      this.#database.prepare(`ALTER TABLE "${TABLE}" RENAME COLUMN ${quoted(from)} TO ${to}`).run()
    } catch (error) {
      throw told(error)
    }
    return { before, after: this.#definition() }
  }

  #definition(): string {
    const row = this.#database.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').get(TABLE)
    return String(row?.['sql'])
  }

  close(): void {
    this.#database.close()
  }

  /** Returns the type of the field that the formula is, with or without brackets; undefined for another formula. */
  #copied(expression: string, inputs: readonly FormulaField[]): Formula['type'] | undefined {
    const [result] = this.#database.prepare(`SELECT (${expression}\n) FROM "${TABLE}"`).columns()
    const type = inputs.find(({ name }) => name === result?.column)?.type
    return type === 'boolean' || type === 'array' || type === 'object' ? type : undefined
  }

  /** Creates the table, and returns the names of the fields in the expression. Throws QueryError. */
  #create(expression: string, inputs: readonly FormulaField[]): Set<string> {
    const read = new Set<string>()
    let called = ''
    let refused: string | null = null
    const { SQLITE_READ, SQLITE_FUNCTION, SQLITE_OK, SQLITE_DENY } = constants
    this.#database.setAuthorizer((action, first, second) => {
      if (action === SQLITE_READ && first === TABLE) read.add(second ?? '')
      if (action !== SQLITE_FUNCTION) return SQLITE_OK
      called = second ?? ''
      if (ALLOWED_FUNCTIONS.has(called)) return SQLITE_OK
      refused ??= called
      return SQLITE_DENY
    })
    const columns = inputs.map(({ name, type }) => `${quoted(name)} ${COLUMN_TYPES[type]}`)
    // The line break ends a comment in the expression.
    const value = `"${VALUE}" AS (${expression}\n) STORED`
    try {
      this.#database.exec(
        `CREATE TABLE "${TABLE}" (${[`"${KEY}" INTEGER PRIMARY KEY`, ...columns, value].join(', ')})`,
      )
    } catch (error) {
      if (refused !== null)
        throw new QueryError(`the function ${String(refused)}() cannot be used`, 'forbidden_function')
      throw told(error, called)
    } finally {
      this.#database.setAuthorizer(null)
    }
    if (read.has(KEY)) throw reserved()
    return read
  }
}

/** Checks a formula for SQLite; see {@link FormulaReader}. */
export const readFormula: FormulaReader = (expression, fields) => {
  const table = new FormulaTable({ expression, inputs: fields, type: 'string' })
  try {
    return fields.flatMap(({ name }) => (table.fields.has(name) ? [name] : []))
  } finally {
    table.close()
  }
}

/** Returns the error that a user receives. `called`: the function that SQLite checked last. */
function told(error: unknown, called = ''): unknown {
  const known = toQueryError(error)
  if (!(known instanceof QueryError)) return known
  const { message } = known
  if (message.includes('non-deterministic functions prohibited'))
    return notDeterministic(called.startsWith('current_') ? called : `${called}()`)
  const [, computed] = /^non-deterministic use of (\w+\(\))/.exec(message) ?? []
  if (computed !== undefined) return notDeterministic(`${computed} of this value`)
  if (message.startsWith('subqueries prohibited')) return subqueryInFormula()
  if (/^misuse of (?:aggregate|window)/.test(message)) return aggregateInFormula()
  if (message === 'Recursion limit')
    return new QueryError('the formula is nested too deeply', 'query_too_long')
  if (message.includes('operator prohibited') || /^no such column: [^".]+\./.test(message))
    return new QueryError('write the name of a field alone, without a table')
  if (message.startsWith('generated column loop')) return reserved()
  return known
}

function reserved(): QueryError {
  return new QueryError('a name in the formula is reserved')
}

/**
 * Returns a result as a value of the contract. SQLite has no booleans, arrays and objects: 0 and 1 are booleans for a boolean field, and
 * JSON text is an array or an object for such a field. As in the result of a query, bytes are base64, and an integer that a JSON number
 * cannot hold exactly is text. Throws QueryError for infinity.
 */
export function jsonOf(value: SQLOutputValue, type: Formula['type']): JsonValue {
  if (value === null) return null
  if (typeof value === 'bigint') {
    if (type === 'boolean' && (value === 0n || value === 1n)) return value === 1n
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  }
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (typeof value === 'number' && !Number.isFinite(value)) throw new QueryError('the result is infinite')
  if (typeof value === 'string' && (type === 'array' || type === 'object')) return structureOf(value)
  return value
}

function structureOf(text: string): JsonValue {
  try {
    const value = JSON.parse(text) as JsonValue
    return Array.isArray(value) || isJsonObject(value) ? value : text
  } catch {
    return text
  }
}

/** Formulas whose tables are kept: the derivations of a level are computed side by side. */
const KEPT = 32

/** Computes formulas in a query process. */
export class FormulaRunner {
  /** The tables of the latest formulas, by the JSON of the formula. */
  readonly #tables = new Map<string, FormulaTable>()

  /** Writes the JSON array of the outcomes; a record without a value has no effect on the others. Throws QueryError. */
  run({ formula, rows }: FormulaRequest, writer: ResultWriter): void {
    const table = this.#table(formula)
    let left = MAX_FORMULA_VALUES
    writer.text('[')
    for (const [index, row] of rows.entries()) {
      const json = JSON.stringify(outcomeOf(table, row))
      left -= json.length
      if (left < 0) throw valueTooLarge()
      writer.text(`${index === 0 ? '' : ','}${json}`)
    }
    writer.text(']')
  }

  #table(formula: FormulaRequest['formula']): FormulaTable {
    const key = JSON.stringify(formula)
    const table = this.#tables.get(key) ?? new FormulaTable(formula)
    this.#tables.delete(key)
    this.#tables.set(key, table)
    const [oldest] = this.#tables.entries()
    if (this.#tables.size > KEPT && oldest !== undefined) {
      this.#tables.delete(oldest[0])
      oldest[1].close()
    }
    return table
  }
}

function outcomeOf(table: FormulaTable, row: FormulaRequest['rows'][number]): FormulaOutcome {
  try {
    return { value: table.compute(row) }
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    return { error: error.message }
  }
}

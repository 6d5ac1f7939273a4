import type { SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'
import { QueryError } from '../../../errors/service-error.ts'
import type { SqlParam } from '../../sheet-store.ts'
import type { TypedField } from './json-columns.ts'
import { rowsOf } from './statement-rows.ts'
import type { ResultWriter } from './sql-result.ts'
import type { QueryOfFields } from './sql-protocol.ts'
import { checkStatement } from './sql-checks.ts'
import type { SqlDatabase } from './sql-database.ts'
import { duplicateColumn } from '../../rules/sql/sql-errors.ts'
import { DATA_TABLE } from './sql-guard.ts'

/** A statement from a user, with the limits of its result. */
export interface QueryRun extends QueryOfFields {
  readonly maxRows: number
}

/** Returns the JSON text of a value of SQLite. */
type ToJson = (value: SQLOutputValue) => string

/** Runs a statement from a user and writes the query result as JSON (D18, D19). Throws QueryError. */
export function runQuery(database: SqlDatabase, run: QueryRun, writer: ResultWriter): void {
  const { params, allFields, maxRows, columns = false } = run
  const { text: sql, names } = checkStatement(run.sql.toWellFormed(), params.length)
  database.snapshot(() => {
    database.guard.confine(names, () => {
      const statement = database.prepare(sql)
      // The scan found one statement; if SQLite stopped reading earlier, they disagree on where it ends.
      if (statement.sourceSQL !== sql) throw new QueryError('only one statement can be run', 'not_select')
      const toJson = columnsToJson(statement, allFields)
      writeRows(statement, { params: params.map(bound), toJson, maxRows, columns }, writer)
    })
  })
}

interface RowsRun {
  readonly params: readonly SQLInputValue[]
  /** For each column the text before its value, and the conversion of the value. */
  readonly toJson: readonly { readonly name: string; readonly key: string; readonly value: ToJson }[]
  readonly maxRows: number
  /** Whether the response contains the names of the columns. */
  readonly columns: boolean
}

function writeRows(statement: StatementSync, run: RowsRun, writer: ResultWriter): void {
  const { params, toJson, maxRows, columns } = run
  statement.setReadBigInts(true)
  writer.text('{"rows":[')
  let count = 0
  let truncated = false
  for (const row of rowsOf(statement, params)) {
    if (count === maxRows) {
      truncated = true
      break
    }
    if (count > 0) writer.text(',')
    // Column by column: a row can be too long for one JavaScript string.
    for (const [index, { key, value }] of toJson.entries()) writer.text(key + value(row[index] ?? null))
    writer.text('}')
    count += 1
  }
  writer.text(`],"count":${count}${truncated ? ',"truncated":true' : ''}`)
  if (columns) writer.text(`,"columns":${JSON.stringify(toJson.map(({ name }) => name))}`)
  writer.text('}')
}

/** Binds a parameter; a whole number as INTEGER, so that it divides and prints like one. */
function bound(param: SqlParam): SQLInputValue {
  if (typeof param === 'boolean') return param ? 1n : 0n
  if (typeof param === 'string') return param.toWellFormed()
  return Number.isSafeInteger(param) ? BigInt(param as number) : param
}

function columnsToJson(statement: StatementSync, fields: readonly TypedField[]): RowsRun['toJson'] {
  const types = new Map(fields.map(({ name, type }) => [name, type]))
  const seen = new Set<string>()
  return statement.columns().map(({ name, table, column }, index) => {
    if (seen.has(name)) {
      throw duplicateColumn(name)
    }
    seen.add(name)
    const type = table === DATA_TABLE && column !== null ? types.get(column) : undefined
    return { name, key: `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`, value: toJsonOf(type) }
  })
}

function toJsonOf(type: TypedField['type'] | undefined): ToJson {
  if (type === 'boolean') return booleanJson
  if (type === 'array' || type === 'object') return structureJson
  return valueJson
}

// The column of a compound SELECT counts as the field that its first part names, but its other parts may have any value:
// one that the field cannot hold is written by its own type.

function booleanJson(value: SQLOutputValue): string {
  return value === 1n ? 'true' : value === 0n ? 'false' : valueJson(value)
}

function structureJson(value: SQLOutputValue): string {
  return typeof value === 'string' && isJson(value) ? value : valueJson(value)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/**
 * Returns the JSON of any value: integers that a JSON number cannot hold exactly are strings, blobs base64 (D18); infinity,
 * which JSON lacks, is null.
 */
function valueJson(value: SQLOutputValue): string {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? String(value) : `"${value}"`
  if (value instanceof Uint8Array) return `"${Buffer.from(value).toString('base64')}"`
  return JSON.stringify(value)
}

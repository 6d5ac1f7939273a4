import { QueryError } from '../../../errors/service-error.ts'
import type { JsonBytes, SqlParam, SqlStatement } from '../../sheet-store.ts'
import type { TypedField } from '../database/columns.ts'
import { toJsonOf } from '../json/column-json.ts'
import { OID } from './sort-sql.ts'
import { ResultWriter } from './sql-result.ts'
import type { CheckedSql } from './sql-checks.ts'
import { duplicateColumn } from '../../rules/sql/sql-errors.ts'
import { shown } from './sql-errors.ts'
import type { SqlSession } from './sql-session.ts'
import type { ColumnText, TypedParam } from './wire-query.ts'

/** A statement from a user, with the contract's fields. */
export interface QueryOfFields extends SqlStatement {
  readonly allFields: readonly TypedField[]
}

/** A checked statement, with the limits of its result. */
export interface CheckedQuery {
  readonly sql: CheckedSql
  readonly params: readonly SqlParam[]
  readonly maxRows: number
  /** Whether the response contains the names of the columns. */
  readonly columns: boolean
}

/** Runs a statement from a user and returns the query result as JSON (D18, D19). Throws QueryError. */
export async function runQuery(session: SqlSession, query: CheckedQuery): Promise<JsonBytes> {
  const params = query.params.map(typed)
  await session.confine(query.sql.names)
  const fields = await session.parse(query.sql.text, params)
  const columns = fields.map((field, index) => ({
    key: `${index === 0 ? '{' : ','}${JSON.stringify(field.name)}:`,
    toJson: toJsonOf(field),
  }))
  checkDistinct(fields.map(({ name }) => name))
  const writer = new ResultWriter()
  writer.text('{"rows":[')
  let count = 0
  const onRow = (row: readonly ColumnText[]): void => {
    count += 1
    if (count > query.maxRows) return
    if (count > 1) writer.text(',')
    if (columns.length === 0) writer.text('{')
    for (const [index, { key, toJson }] of columns.entries()) {
      const value = row[index] ?? null
      writer.text(key + (value === null ? 'null' : toJson(value)))
    }
    writer.text('}')
  }
  await session.run({ values: params.map(({ text }) => text), rows: query.maxRows + 1, onRow })
  writer.text(
    `],"count":${Math.min(count, query.maxRows)}${count > query.maxRows ? ',"truncated":true' : ''}`,
  )
  if (query.columns) writer.text(`,"columns":${JSON.stringify(fields.map(({ name }) => name))}`)
  writer.text('}')
  return writer.finish()
}

/**
 * Types a parameter: a number as it would be in the statement itself; for text and null the statement decides. Throws
 * QueryError.
 */
function typed(param: SqlParam): TypedParam {
  if (param === null) return { text: null, type: 0 }
  if (typeof param === 'boolean') return { text: String(param), type: OID.boolean }
  if (typeof param === 'number') return { text: String(param), type: numberType(param) }
  if (param.includes('\0'))
    throw new QueryError('a value in params has a NUL character (U+0000)', 'wrong_parameters')
  return { text: param.toWellFormed(), type: 0 }
}

function numberType(param: number): number {
  if (!Number.isSafeInteger(param)) return OID.numeric
  return Math.abs(param) < 2 ** 31 ? OID.int4 : OID.int8
}

function checkDistinct(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice === undefined) return
  throw duplicateColumn(shown(twice))
}

import type { FieldDef } from 'pg'
import { jsonInTurns } from '../../../contract/json/stringify-in-parts.ts'
import { MAX_FORMULA_VALUES, type FormulaRow } from '../../formula.ts'
import type { RecordsQuery } from '../../records-query.ts'
import { columnType, quoted } from '../database/schema.ts'
import { toColumn, toColumnText } from '../database/values.ts'
import type { CheckedRecordsQuery } from '../sql/sql-checks.ts'
import type { SqlSession } from '../sql/sql-session.ts'
import { JSONB } from './formula-statement.ts'
import { FoundRows, RowReader } from './found-rows.ts'

/** Milliseconds that a statement for many records takes, about: it ends well before the limit of one query. */
const GROUP_MS = 200

/** The most records of a statement. */
const MOST_TOGETHER = 256

/** The factor by which the number of records of a statement grows at most. */
const GROWTH = 4

/** The parameter of a statement for many records, and the name of the number of a record in it. */
const PARAMETER = { text: null, type: JSONB }
const NUMBER = '$number'

interface StatementParts {
  readonly query: RecordsQuery
  readonly sql: CheckedRecordsQuery
  /** Whether one of several rows comes first. */
  readonly ordered: boolean
}

/**
 * A query in one pass over the records. One statement runs it for many records, whose values are its parameter: a round trip and an
 * execution for each record take several times as long. Where PostgreSQL does not take the query in that form, as one with
 * `sum(:field)`, a statement runs it for one record.
 */
export class QueryStatement {
  readonly #parts: StatementParts
  /** Whether a statement runs it for many records; null before that is known. */
  #isForMany: boolean | null
  #size = 1

  constructor(parts: StatementParts) {
    this.#parts = parts
    this.#isForMany = parts.sql.inputs.length === 0 ? false : null
  }

  /** The number of records for which a statement for many runs it next. */
  get size(): number {
    return this.#size
  }

  /** Notes that a statement for these records took so many milliseconds, and returned so many bytes. */
  took(records: number, { ms, bytes }: { readonly ms: number; readonly bytes: number }): void {
    const growth = Math.min(GROWTH, GROUP_MS / ms, MAX_FORMULA_VALUES / 2 / bytes)
    this.#size = Math.max(1, Math.min(MOST_TOGETHER, Math.floor(records * growth)))
  }

  /** Notes that it failed for some records: the next ones are fewer, so that few are computed again. */
  failed(): void {
    this.#size = 1
  }

  /** Has PostgreSQL parse it. Throws QueryError for a query that lacks a target's column, and errors of PostgreSQL. */
  async parse(session: SqlSession): Promise<ParsedQuery> {
    const { query, sql } = this.#parts
    const parseForOne = (): Promise<readonly FieldDef[]> =>
      session.parse(
        sql.text,
        sql.inputs.map(() => ({ text: null, type: 0 })),
      )
    if (this.#isForMany === true) {
      const [, ...columns] = await session.parse(textForMany(this.#parts), [PARAMETER])
      return new ParsedForMany(this, this.#parts, new RowReader(query, columns))
    }
    const reader = new RowReader(query, await parseForOne())
    if (this.#isForMany === null) {
      const columns = await session.tryParse(textForMany(this.#parts), [PARAMETER])
      const isForMany = columns !== null && reader.reads(columns.slice(1))
      this.#isForMany = isForMany
      if (isForMany) return new ParsedForMany(this, this.#parts, reader)
      await parseForOne()
    }
    return new ParsedForOne(this.#parts, reader)
  }
}

/** A query that PostgreSQL has parsed in a session. */
interface ParsedQuery {
  /** The number of records for which a statement runs it next. */
  readonly size: number
  /** Runs it for so many records. Throws QueryError for values that are too large together. */
  run(session: SqlSession, rows: readonly FormulaRow[]): Promise<FoundRows>
}

class ParsedForMany implements ParsedQuery {
  readonly #statement: QueryStatement
  readonly #parts: StatementParts
  readonly #reader: RowReader

  constructor(statement: QueryStatement, parts: StatementParts, reader: RowReader) {
    this.#statement = statement
    this.#parts = parts
    this.#reader = reader
  }

  get size(): number {
    return this.#statement.size
  }

  async run(session: SqlSession, rows: readonly FormulaRow[]): Promise<FoundRows> {
    const began = performance.now()
    const found = new FoundRows(rows.length, this.#parts.ordered, this.#reader)
    await session.run({
      values: [await this.#parameter(rows)],
      rows: 0,
      onRow: ([number, ...texts]) => found.add(Number(number), texts),
    })
    this.#statement.took(rows.length, { ms: performance.now() - began, bytes: found.bytes })
    return found
  }

  async #parameter(rows: readonly FormulaRow[]): Promise<string> {
    const { inputs } = this.#parts.query
    const records = rows.map((row, number) =>
      Object.fromEntries([
        [NUMBER, number],
        ...inputs.map((field, index) => [field.name, toColumn(field, row[index] ?? null)] as const),
      ]),
    )
    const json = await jsonInTurns(records)
    return typeof json === 'string' ? json : Buffer.from(json).toString()
  }
}

class ParsedForOne implements ParsedQuery {
  readonly size = 1
  readonly #parts: StatementParts
  readonly #reader: RowReader

  constructor(parts: StatementParts, reader: RowReader) {
    this.#parts = parts
    this.#reader = reader
  }

  async run(session: SqlSession, [row = []]: readonly FormulaRow[]): Promise<FoundRows> {
    const { query, sql } = this.#parts
    const found = new FoundRows(1, this.#parts.ordered, this.#reader)
    const values = sql.inputs.map((name) => {
      const index = query.inputs.findIndex((input) => input.name === name)
      const field = query.inputs[index]
      return field === undefined ? null : toColumnText(field, row[index] ?? null)
    })
    await session.run({ values, rows: mostRows(this.#parts), onRow: (texts) => found.add(0, texts) })
    return found
  }
}

/** Returns the number of rows after which no other one of a record matters. */
function mostRows({ ordered }: StatementParts): number {
  return ordered ? 1 : 2
}

/**
 * Returns the statement for the records in its parameter, an array of objects. The query cannot use the name of the records, which has a
 * `$`. The limit keeps the planner from joining, for which it would compute the query's rows of all records first.
 */
function textForMany(parts: StatementParts): string {
  const { query, sql } = parts
  const columns = query.inputs.map((field) => `${quoted(field.name)} ${columnType(field)}`)
  // The line break ends a comment in the query.
  const rows = `SELECT * FROM (${sql.textWith((name) => `"$input".${quoted(name)}`)}\n) AS "$row" LIMIT ${mostRows(parts)}`
  return `SELECT "$input".${quoted(NUMBER)}, "$found".*
    FROM jsonb_to_recordset($1) AS "$input" (${[`${quoted(NUMBER)} integer`, ...columns].join(', ')})
    CROSS JOIN LATERAL (${rows}) AS "$found"`
}

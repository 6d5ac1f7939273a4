import type { JsonValue } from '../../../contract/json/json.ts'
import { jsonInTurns } from '../../../contract/json/stringify-in-parts.ts'
import { QueryError } from '../../../errors/service-error.ts'
import { err, ok, type Result } from '../../../errors/result.ts'
import { MAX_FORMULA_VALUES, type Formula, type FormulaRow, type FormulaStore } from '../../formula.ts'
import type { QueryLimits } from '../../query-limits.ts'
import { computeApart } from '../../rules/sql/compute-apart.ts'
import { aggregateInFormula, notDeterministic, shown, valueTooLarge } from '../../rules/sql/sql-errors.ts'
import type { Database } from '../database/database.ts'
import { toColumn } from '../database/values.ts'
import { toJsonOf } from '../json/column-json.ts'
import { checkFormula } from '../sql/sql-checks.ts'
import { SqlPool } from '../sql/sql-pool.ts'
import { formulaStatement, JSONB } from './formula-statement.ts'
import { presentIn } from './present-time.ts'
import { FormulaParser } from './read-formula.ts'

/** The number of statements at a time. */
const CONCURRENT = 2

/** Codes of errors that are not because of the formula, or not for whatever rows. */
const NOT_FOR_ALL_ROWS: ReadonlySet<string> = new Set(['query_timeout', 'query_memory', 'too_many_queries'])

type Outcome = Result<JsonValue, string>

/**
 * Computes formulas on connections of their own, as the role and within the limits of SQL from users; queries do not wait for them. One
 * statement computes many records, whose values are its parameter.
 */
export class PostgresFormulas implements FormulaStore {
  readonly #pool: SqlPool
  #parser: Promise<FormulaParser> | null = null
  /** Settle when a statement may be sent, used in turn. */
  readonly #lanes: Promise<unknown>[] = Array.from({ length: CONCURRENT }, () => Promise.resolve())
  #next = 0

  constructor(database: Database, limits: QueryLimits) {
    this.#pool = new SqlPool({ database, limits })
  }

  async computeFormula(
    formula: Formula,
    rows: readonly FormulaRow[],
    signal: AbortSignal,
  ): Promise<readonly Outcome[]> {
    this.#parser ??= FormulaParser.load()
    const { dateTexts } = (await this.#parser).facts(formula.expression, formula.inputs)
    const isChecked = formula.inputs.map(({ name }) => dateTexts.has(name))
    const outcomes = rows.map((row): Outcome | null => {
      const present = presentIn(row.filter((_, index) => isChecked[index]))
      return present === null
        ? null
        : err(notDeterministic(`the text ${JSON.stringify(shown(present))}`).message)
    })
    const open = rows.filter((_, index) => outcomes[index] === null)
    const computed = open.length === 0 ? [] : await this.#compute(formula, open, signal)
    let next = 0
    return outcomes.map((outcome) => outcome ?? (computed[next++] as Outcome))
  }

  /** Closes the connections. */
  close(): Promise<void> {
    return this.#pool.close()
  }

  async #compute(
    formula: Formula,
    rows: readonly FormulaRow[],
    signal: AbortSignal,
  ): Promise<readonly Outcome[]> {
    const statement = new Statement(formula)
    return computeApart(rows, async (some) => {
      try {
        return await this.#inTurn(() => statement.run(this.#pool, some, signal))
      } catch (error) {
        if (!(error instanceof QueryError) || statement.isParsed || NOT_FOR_ALL_ROWS.has(error.code))
          throw error
        // The statement fails for whatever rows.
        const { message } = /aggregate functions|GROUP BY|set-returning functions|window functions/.test(
          error.message,
        )
          ? aggregateInFormula()
          : error
        return some.map(() => err(message))
      }
    })
  }

  /** Waits for a lane, however long: the queue of the pool refuses what waits too long. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const lane = this.#next++ % CONCURRENT
    const done = (this.#lanes[lane] ?? Promise.resolve()).then(work)
    this.#lanes[lane] = done.catch(() => undefined)
    return done
  }
}

/** The statement that computes a formula for rows. */
class Statement {
  readonly #formula: Formula
  readonly #text: string
  /** Whether PostgreSQL has accepted it. */
  isParsed = false

  constructor(formula: Formula) {
    this.#formula = formula
    this.#text = formulaStatement(formula)
  }

  async run(pool: SqlPool, rows: readonly FormulaRow[], signal: AbortSignal): Promise<readonly Outcome[]> {
    const { expression, inputs } = this.#formula
    const sql = checkFormula(expression, new Set(inputs.map(({ name }) => name)))
    const records = rows.map((row) =>
      Object.fromEntries(inputs.map((field, index) => [field.name, toColumn(field, row[index] ?? null)])),
    )
    const json = await jsonInTurns(records)
    const values = [typeof json === 'string' ? json : Buffer.from(json).toString()]
    return pool.within({
      sql,
      characters: expression.length + (values[0]?.length ?? 0),
      signal,
      work: async (session) => {
        await session.confine(sql.names)
        const [column] = await session.parse(this.#text, [{ text: null, type: JSONB }])
        if (column === undefined) throw new Error('a formula has no column')
        this.isParsed = true
        const toJson = toJsonOf(column)
        const outcomes: Outcome[] = []
        let left = MAX_FORMULA_VALUES
        const onRow = ([text = null]: readonly (string | null)[]): void => {
          left -= text === null ? 4 : Buffer.byteLength(text)
          if (left < 0) throw valueTooLarge()
          outcomes.push(outcomeOf(text, toJson))
        }
        await session.run({ values, rows: 0, onRow })
        if (outcomes.length !== rows.length) throw new QueryError('the formula has more than one value')
        return outcomes
      },
    })
  }
}

/** Numbers that JSON lacks. */
const ENDLESS: ReadonlySet<string> = new Set(['NaN', 'Infinity', '-Infinity'])

function outcomeOf(text: string | null, toJson: (text: string) => string): Outcome {
  if (text === null) return ok(null)
  const json = toJson(text)
  if (json === 'null' && ENDLESS.has(text)) return err('the result is infinite, or no number')
  return ok(JSON.parse(json) as JsonValue)
}

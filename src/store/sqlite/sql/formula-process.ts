import type { JsonValue } from '../../../contract/json/json.ts'
import { StoppingError } from '../../../errors/service-error.ts'
import { err, ok, type Result } from '../../../errors/result.ts'
import type { Formula, FormulaRow, FormulaStore } from '../../formula.ts'
import type { QueryLimits } from '../../query-limits.ts'
import { computeApart } from '../../rules/sql/compute-apart.ts'
import { SqlProcess } from './sql-process.ts'
import type { FormulaOutcome } from './sql-protocol.ts'

/** Milliseconds after which an idle process ends. */
const IDLE_MS = 10_000

/**
 * Computes formulas in a process of its own, which starts with the first and ends when it is idle. It has no database; its limits are those
 * of queries from users, for which other processes are kept.
 */
export class FormulaProcess implements FormulaStore {
  readonly #limits: QueryLimits
  #process: SqlProcess | null = null
  /** Settles when the process is free. */
  #free: Promise<unknown> = Promise.resolve()
  #idle: NodeJS.Timeout | undefined
  #closed = false

  constructor(limits: QueryLimits) {
    this.#limits = limits
  }

  computeFormula(
    formula: Formula,
    rows: readonly FormulaRow[],
    signal: AbortSignal,
  ): Promise<readonly Result<JsonValue, string>[]> {
    return computeApart(rows, (some) => this.#inTurn(formula, some, signal))
  }

  /** Ends the process; computations fail. Resolves when it has ended. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#idle)
    this.#process?.kill()
    await this.#process?.ended
  }

  /** Computes after those that came before. */
  #inTurn(
    formula: Formula,
    rows: readonly FormulaRow[],
    signal: AbortSignal,
  ): Promise<readonly Result<JsonValue, string>[]> {
    const computed = this.#free.then(() => this.#compute(formula, rows, signal))
    this.#free = computed.catch(() => undefined)
    return computed
  }

  async #compute(
    formula: Formula,
    rows: readonly FormulaRow[],
    signal: AbortSignal,
  ): Promise<readonly Result<JsonValue, string>[]> {
    signal.throwIfAborted()
    if (this.#closed) throw closing()
    clearTimeout(this.#idle)
    const process = this.#usable()
    const stop = (): void => process.kill()
    signal.addEventListener('abort', stop, { once: true })
    try {
      await process.ready
      const { json } = await process.run({ kind: 'formula', formula, rows })
      const outcomes = JSON.parse(json.toString()) as readonly FormulaOutcome[]
      return outcomes.map((outcome) => ('error' in outcome ? err(outcome.error) : ok(outcome.value)))
    } catch (error) {
      signal.throwIfAborted()
      throw this.#closed ? closing() : error
    } finally {
      signal.removeEventListener('abort', stop)
      this.#idle = setTimeout(() => this.#process?.kill(), IDLE_MS).unref()
    }
  }

  #usable(): SqlProcess {
    if (this.#process?.usable !== true) this.#process = new SqlProcess(null, this.#limits)
    return this.#process
  }
}

function closing(): StoppingError {
  return new StoppingError('the sheet is being closed')
}

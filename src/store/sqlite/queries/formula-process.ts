import type { JsonValue } from '../../../contract/json/json.ts'
import { err, ok, type Result } from '../../../errors/result.ts'
import type { Formula, FormulaRow, FormulaStore } from '../../formula.ts'
import type { QueryLimits } from '../../query-limits.ts'
import { computeApart } from '../../rules/sql/compute-apart.ts'
import { ProcessOnDemand } from './process-on-demand.ts'
import type { FormulaOutcome } from '../sql/sql-protocol.ts'

/**
 * Computes formulas in a process of its own, which starts with the first and ends when it is idle. It has no database; its limits are those
 * of queries from users, for which other processes are kept.
 */
export class FormulaProcess implements FormulaStore {
  readonly #process: ProcessOnDemand

  constructor(limits: QueryLimits) {
    this.#process = new ProcessOnDemand(null, limits)
  }

  computeFormula(
    formula: Formula,
    rows: readonly FormulaRow[],
    signal: AbortSignal,
  ): Promise<readonly Result<JsonValue, string>[]> {
    return computeApart(rows, (some) => this.#compute(formula, some, signal))
  }

  /** Ends the process; computations fail. Resolves when it has ended. */
  close(): Promise<void> {
    return this.#process.close()
  }

  async #compute(
    formula: Formula,
    rows: readonly FormulaRow[],
    signal: AbortSignal,
  ): Promise<readonly Result<JsonValue, string>[]> {
    const outcomes = (await this.#process.run({ kind: 'formula', formula, rows }, signal)) as unknown
    return (outcomes as readonly FormulaOutcome[]).map((outcome) =>
      'error' in outcome ? err(outcome.error) : ok(outcome.value),
    )
  }
}

import type { JsonValue } from '../../../contract/json/json.ts'
import type { Result } from '../../../errors/result.ts'
import type { Formula, FormulaRow, FormulaStore } from '../../../store/formula.ts'
import type { Verdict } from './verdict.ts'

/** The condition of a step: an SQL expression over fields, in the dialect of the sheet's store. */
export interface Accept {
  readonly formula: Formula
}

interface Waiting {
  readonly row: FormulaRow
  resolve(outcome: Result<JsonValue, string>): void
  reject(error: unknown): void
}

/** The rows that a statement computes, at most. */
const ROWS = 256

/** Computes the conditions of steps; those of the same turn of the event loop together. */
export class Conditions {
  readonly #waiting = new Map<Formula, Waiting[]>()
  readonly #formulas: FormulaStore
  readonly #signal: AbortSignal

  constructor(formulas: FormulaStore, signal: AbortSignal) {
    this.#formulas = formulas
    this.#signal = signal
  }

  /** Validates values by a condition. Only true accepts them. */
  async judge({ formula }: Accept, value: (field: string) => JsonValue): Promise<Verdict> {
    const row = formula.inputs.map(({ name }) => value(name))
    const outcome = await new Promise<Result<JsonValue, string>>((resolve, reject) => {
      const waiting = this.#waiting.get(formula) ?? []
      waiting.push({ row, resolve, reject })
      this.#waiting.set(formula, waiting)
      if (waiting.length === 1) setImmediate(() => void this.#compute(formula))
    })
    if (!outcome.ok) return { is: 'unknown', detail: `accept cannot be computed: ${outcome.error}` }
    if (outcome.value === true) return { is: 'accepted' }
    if (outcome.value === false || outcome.value === null) {
      return { is: 'refused', detail: `accept is ${outcome.value === null ? 'null' : 'false'}` }
    }
    const shown = JSON.stringify(outcome.value).slice(0, 60)
    return { is: 'unknown', detail: `accept is ${shown}, and not true, false or null` }
  }

  /** Never rejects. */
  async #compute(formula: Formula): Promise<void> {
    const waiting = this.#waiting.get(formula) ?? []
    this.#waiting.delete(formula)
    for (let start = 0; start < waiting.length; start += ROWS) {
      const some = waiting.slice(start, start + ROWS)
      try {
        const rows = some.map(({ row }) => row)
        const outcomes = await this.#formulas.computeFormula(formula, rows, this.#signal)
        some.forEach(({ resolve, reject }, index) => {
          const outcome = outcomes[index]
          if (outcome === undefined) reject(new Error(`${rows.length} rows have ${outcomes.length} results`))
          else resolve(outcome)
        })
      } catch (error) {
        for (const { reject } of some) reject(error)
      }
    }
  }
}

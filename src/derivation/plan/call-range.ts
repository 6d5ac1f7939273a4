import type { CallRange } from '../run-request.ts'
import type { Price } from './budget.ts'
import type { ExpectedCall } from './expected-usage.ts'

interface Chance {
  /** Whether no earlier step of its computation may make it needless. */
  readonly isCertain: boolean
  /** The expected share of such calls that are made; null if unknown. */
  readonly reach: number | null
}

/** Sums up how many calls a run with fallbacks makes at least, and how many are expected by the results so far. */
export class CallRangeCount {
  #hasSteps = false
  #isKnown = true
  #results = 0
  readonly #least = { calls: 0, cost: 0 }
  readonly #expected = { calls: 0, cost: 0 }

  /** Adds a call that is made. */
  add(call: ExpectedCall): void {
    addTo(this.#least, call.price, 1)
    addTo(this.#expected, expectedPrice(call), 1)
  }

  /** Adds a call of a step that earlier steps may make needless. */
  addStep(call: ExpectedCall, chance: Chance): void {
    if (chance.isCertain) this.add(call)
    else this.addPossible({ ...call, ...chance })
  }

  /** Adds a call that may be needless, or not possible, once earlier fields are computed or earlier steps carried out. */
  addPossible({ isCertain, reach, ...call }: ExpectedCall & Chance): void {
    if (!isCertain) this.#hasSteps = true
    if (reach === null) this.#isKnown = false
    else addTo(this.#expected, expectedPrice(call), reach)
  }

  /** Adds the number of results that the shares are from. */
  addResults(results: number): void {
    this.#results += results
  }

  /** Returns the range within upper bounds; undefined for a run in which no step may be needless. */
  within(most: { readonly calls: number; readonly cost: number }): CallRange | undefined {
    if (!this.#hasSteps) return undefined
    const least = bounded(this.#least, most)
    if (!this.#isKnown) return { least }
    const { calls, cost } = bounded(this.#expected, most)
    return { least, expected: { calls: Math.round(calls), cost, results: this.#results } }
  }
}

interface Sum {
  calls: number
  cost: number
}

function addTo(sum: Sum, price: Price, share: number): void {
  sum.calls += share
  sum.cost += share * (price ?? 0)
}

function expectedPrice({ price, tokens }: ExpectedCall): Price {
  return tokens === null ? price : tokens.cost
}

function bounded({ calls, cost }: Sum, most: Readonly<Sum>): Sum {
  return {
    calls: Math.min(calls, most.calls),
    cost: Math.min(Math.round(cost * 1e9) / 1e9, most.cost),
  }
}

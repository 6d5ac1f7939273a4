import type { RecordedUsage } from '../../store/cell-work.ts'
import type { TokenEstimate } from '../definition/derivation-kind.ts'
import type { UsageEstimate } from '../run-request.ts'
import type { Price } from './budget.ts'

/** A call of a dry run. */
export interface ExpectedCall {
  /** The most that it can cost. */
  readonly price: Price
  /** Null for a call without tokens, which costs its price. */
  readonly tokens: TokenEstimate | null
}

/** Sums up what the calls of a dry run are expected to use. */
export class ExpectedUsage {
  #calls = 0
  #inputTokens = 0
  #outputTokens = 0
  #cost = 0
  #fromBytes = false
  /** One for each derivation. */
  readonly #recorded = new Set<RecordedUsage>()

  /** `share`: the expected share of the call, 1 for one that is made. */
  add({ price, tokens }: ExpectedCall, share = 1): void {
    this.#cost += share * ((tokens === null ? price : tokens.cost) ?? 0)
    if (tokens === null) return
    this.#calls += 1
    this.#inputTokens += share * tokens.inputTokens
    this.#outputTokens += share * tokens.outputTokens
    if (tokens.recorded === null) this.#fromBytes = true
    else this.#recorded.add(tokens.recorded)
  }

  /** Returns the sum; undefined if no call has tokens. */
  get sum(): UsageEstimate | undefined {
    if (this.#calls === 0) return undefined
    return {
      inputTokens: Math.round(this.#inputTokens),
      outputTokens: Math.round(this.#outputTokens),
      cost: Math.round(this.#cost * 1e9) / 1e9,
      results: [...this.#recorded].reduce((sum, { results }) => sum + results, 0),
      fromBytes: this.#fromBytes,
    }
  }
}

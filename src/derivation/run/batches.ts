import type { Failure } from '../../errors/failure.ts'
import type { Result } from '../../errors/result.ts'
import type { Computed, DerivationKind, Plan, RunContext } from '../definition/derivation-kind.ts'
import { NotWanted } from '../limiter/limiter.ts'

/** Computations of a batch, at most. */
export const BATCH_SIZE = 256

type Outcome = Result<Computed, Failure>

interface Waiting {
  readonly plan: Plan
  readonly context: RunContext
  resolve(outcome: Outcome): void
  reject(error: unknown): void
}

/** Collects computations of a derivation that begin in the same turn of the event loop, and has its kind compute them in one go. */
export class Batches {
  readonly #runBatch: NonNullable<DerivationKind['runBatch']>
  readonly #spec: unknown
  #waiting: Waiting[] = []

  constructor(runBatch: NonNullable<DerivationKind['runBatch']>, spec: unknown) {
    this.#runBatch = runBatch
    this.#spec = spec
  }

  /** Computes a plan with others. Rejects as `run` of a kind does, also with {@link NotWanted}. */
  add(plan: Plan, context: RunContext): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ plan, context, resolve, reject })
      if (this.#waiting.length === BATCH_SIZE) void this.#run(this.#waiting.splice(0))
      else if (this.#waiting.length === 1) setImmediate(() => void this.#run(this.#waiting.splice(0)))
    })
  }

  /** Never rejects. */
  async #run(collected: readonly Waiting[]): Promise<void> {
    try {
      const isWanted = await Promise.all(collected.map(async ({ context }) => context.wanted()))
      const batch = collected.filter((_, index) => isWanted[index] === true)
      collected.forEach(({ reject }, index) => isWanted[index] === true || reject(new NotWanted()))
      const [first] = batch
      if (first === undefined) return
      for (const { context } of batch) context.onBegun?.()
      const items = batch.map(({ plan, context }) => ({ plan, onSent: () => context.onSent() }))
      const outcomes = await this.#runBatch(this.#spec, items, first.context)
      if (outcomes.length !== batch.length) {
        throw new Error(`a batch of ${batch.length} computations has ${outcomes.length} results`)
      }
      batch.forEach(({ resolve }, index) => resolve(outcomes[index] as Outcome))
    } catch (error) {
      for (const { reject } of collected) reject(error)
    }
  }
}

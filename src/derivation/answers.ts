import type { Contract } from '../contract/contract.ts'
import type { JsonObject, JsonValue } from '../contract/json.ts'
import { coerceComputed, faultOf } from '../contract/validate-value.ts'
import type { Failure } from '../errors/failure.ts'
import { err, ok, type Result } from '../errors/result.ts'
import type { CacheEntry, SheetStore } from '../store/sheet-store.ts'
import type { Computed, Derivation, Plan } from './derivation-kind.ts'

/** What one input hash comes to in this run: what the cache has for it and, once somebody needs it, a call. */
export interface Answer {
  readonly entry: Promise<CacheEntry | undefined>
  call: Promise<CallOutcome> | null
  /** Records that wait for it or whose cells are not stored yet. */
  users: number
}

/** The values of a finished call, each checked against the contract, or why a target has none. */
export interface CallOutcome {
  readonly values: { readonly [target: string]: Result<JsonValue, Failure> }
  readonly provenance: JsonObject
}

/** A call that a run would make. */
export interface PlannedCall {
  readonly derivation: Derivation
  readonly plan: Plan
  /** The input hash. */
  readonly hash: string
}

interface AnswersOptions {
  readonly contract: Contract
  readonly store: Pick<SheetStore, 'cached'>
  /** Asks anew for what the cache has, once in a run. */
  readonly force: boolean
}

/** The answers of one run: equal hashes share what the cache has and, beyond that, one call (D25). */
export class Answers {
  readonly #options: AnswersOptions
  /** Answers in use, and those whose call failed. */
  readonly #answers = new Map<string, Answer>()
  /** With force, hashes whose answer of this run is in the cache. */
  readonly #refreshed = new Set<string>()

  constructor(options: AnswersOptions) {
    this.#options = options
  }

  /** The answer to a hash, for a user who lets it go again when its cells are stored. */
  take(hash: string): Answer {
    const answer = this.#answers.get(hash) ?? this.#newAnswer(hash)
    answer.users += 1
    return answer
  }

  /** Forgets an answer that the cache has now; one with a failure is kept, so that nobody calls again. */
  async letGo(hash: string, answer: Answer): Promise<void> {
    answer.users -= 1
    if (answer.users > 0) return
    const outcome = await answer.call
    if (outcome !== null && Object.values(outcome.values).some((result) => !result.ok)) return
    this.#answers.delete(hash)
    if (this.#options.force) this.#refreshed.add(hash)
  }

  /** What the cache has for a hash. */
  async cacheEntry(hash: string): Promise<CacheEntry | undefined> {
    return (await this.#options.store.cached([hash])).get(hash)
  }

  /** The cached value of a target, unless the contract has come to hold something against it. */
  cachedValue(entry: CacheEntry | undefined, target: string): JsonValue | undefined {
    if (entry === undefined || !Object.hasOwn(entry.values, target)) return undefined
    const value = entry.values[target] ?? null
    const field = this.#options.contract.fieldByName.get(target)
    return field !== undefined && faultOf(field, value) === null ? value : undefined
  }

  /** The outcome of an answer's call, which the first who needs it makes. */
  async call(
    answer: Answer,
    planned: PlannedCall,
    signal: AbortSignal,
  ): Promise<{ outcome: CallOutcome; first: boolean }> {
    const first = answer.call === null
    answer.call ??= this.#startCall(planned, signal)
    return { outcome: await answer.call, first }
  }

  async #startCall({ derivation, plan }: PlannedCall, signal: AbortSignal): Promise<CallOutcome> {
    const result = await derivation.kind.run(derivation.spec, plan, { signal })
    if (result.ok) return this.#check(plan, result.value)
    return {
      values: Object.fromEntries(derivation.targets.map((target) => [target, result])),
      provenance: {},
    }
  }

  /** Holds what was computed against the contract (D26). */
  #check(plan: Plan, computed: Computed): CallOutcome {
    const values = Object.entries(computed.values).map(([target, value]) => {
      const field = this.#options.contract.fieldByName.get(target)
      if (!value.ok || field === undefined) return [target, value] as const
      const coerced = coerceComputed(field, value.value)
      const detail = (typeof coerced === 'string' ? lostDigits(value.value) : null) ?? faultOf(field, coerced)
      return [target, detail === null ? ok(coerced) : err(contractFailure(plan, field.name, detail))] as const
    })
    return { values: Object.fromEntries(values), provenance: computed.provenance }
  }

  #newAnswer(hash: string): Answer {
    const anew = this.#options.force && !this.#refreshed.has(hash)
    const answer: Answer = {
      entry: anew ? Promise.resolve(undefined) : this.cacheEntry(hash),
      call: null,
      users: 0,
    }
    this.#answers.set(hash, answer)
    return answer
  }
}

/** What of a call goes into the cache: values that the contract has nothing against. */
export function cacheEntries(hash: string, { values, provenance }: CallOutcome): CacheEntry[] {
  const good = Object.entries(values).flatMap(([target, result]) =>
    result.ok ? [[target, result.value] as const] : [],
  )
  return good.length === 0 ? [] : [{ inputHash: hash, values: Object.fromEntries(good), provenance }]
}

/** An integer that JSON parsing may have rounded must not become text, as if that were what was sent. */
function lostDigits(value: JsonValue): string | null {
  const lost =
    typeof value === 'number' &&
    Number.isInteger(value) &&
    !Number.isSafeInteger(value) &&
    Math.abs(value) < 1e21
  return lost
    ? `the integer ${value} is beyond ±(2^53−1), so its last digits are lost; have it sent as a string`
    : null
}

/** The failure of a cell whose value the contract holds something against (D26). */
export function contractFailure(plan: Plan, field: string, detail: string): Failure {
  return { reason: 'contract', request: plan.request, detail: `field "${field}": ${detail}` }
}

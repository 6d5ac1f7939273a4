import type { Contract } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { coerceComputed, valueError } from '../../contract/values/validate-value.ts'
import type { Failure } from '../../errors/failure.ts'
import { err, ok, type Result } from '../../errors/result.ts'
import type { SettledCall } from '../../store/cell-work.ts'
import type { CacheEntry, WorkCell, WorkItem } from '../../store/cell-work.ts'
import type { ReceivedResponse } from '../../store/stored-responses.ts'
import {
  makesCalls,
  NoRoom,
  type Computed,
  type Derivation,
  type Plan,
  type RunContext,
} from '../definition/derivation-kind.ts'
import { refuseCommonMembers } from '../definition/evidence.ts'
import { NotWanted } from '../limiter/limiter.ts'
import type { Price } from '../plan/budget.ts'
import { digestOf } from '../plan/hash-digest.ts'
import { Batches } from './batches.ts'
import type { Brought, MadeCall, ReusedResponses } from './reused-responses.ts'
import type { SharedCalls } from '../run-request.ts'

/** The result of one input hash in this run: its cache entry and, once a cell needs it, a call. */
export interface Answer {
  readonly hash: string
  /** See {@link digestOf}. */
  readonly digest: string
  /** The key of its request, where responses are reused; null elsewhere. */
  readonly request: string | null
  /** Whether the store has kept a response to that request, once loaded. */
  isKept: boolean
  /** The cache entry, once loaded. */
  entry: CacheEntry | undefined
  /** Whether a call of this run brought that; of what it failed to bring, `failed` tells. */
  readonly isOfRun: boolean
  /** Targets that a call of this run, done with before, brought no value for. */
  readonly failed: FailedTargets
  /** Comes to null when nobody needed it any more before it was made. */
  call: Promise<CallOutcome | null> | null
  /** Whether the call was not made since the bounds of the run left no room for it. */
  hasNoRoom: boolean
  /** The outcome of the call, once it has ended. */
  outcome: CallOutcome | null
  /** Records that wait for it or whose cells are not stored yet. */
  users: number
  /** The cells that wait for the call. */
  readonly waiting: { readonly item: WorkItem; readonly cells: readonly WorkCell[] }[]
  /** The time at which the first of them was read, by `performance.now()`. */
  readonly since: number
}

/** For every target of the derivation its value, checked against the contract, or why it has none. */
export interface CallOutcome {
  readonly values: { readonly [target: string]: Result<JsonValue, Failure> }
  /** The failures among these; null for none. */
  readonly failed: FailedTargets | null
  /** Members of the provenance entry beside the plan's evidence. */
  readonly provenance: JsonObject
  /** Dollars that the call cost; absent where that is its estimate. */
  readonly cost?: Price
  /** The input hash of the values, and whether they took no call, for a computation of steps. */
  readonly inputHash?: string
  readonly isCached?: boolean
  /** Whether another process made the call, which stores what comes of it beside the cells. */
  readonly isOthers: boolean
  /** The usage of a call of this process; absent if it is unknown. */
  readonly usage?: Computed['usage']
  /** The response of a call of this process, to be kept. */
  readonly response?: ReceivedResponse | undefined
  /** The request whose response was taken instead of a call. */
  readonly reused?: string | undefined
  /** The failure of the call as a whole; absent if it succeeded. */
  readonly failure?: Failure | undefined
}

type FailedTargets = { readonly [target: string]: { readonly ok: false; readonly error: Failure } }

const NONE_FAILED: FailedTargets = {}

type TargetOutcome = readonly [target: string, result: Result<JsonValue, Failure>]

interface AnswersOptions {
  readonly contract: Contract
  /** Whether values that violate the contract are failures. */
  readonly validates: boolean
  /** Whether what the cache had before the run counts. */
  readonly usesCache: boolean
  /** Whether cells may want an answer of this run, whatever the cache had before. */
  readonly asksAnew: boolean
  /** Returns the cache entries of input hashes. */
  cached(hashes: readonly string[]): Promise<ReadonlyMap<string, CacheEntry>>
  /** The calls that processes share; absent where one process makes all. */
  readonly calls?: SharedCalls
  /** Absent where each call is made. */
  readonly reuse?: ReusedResponses
}

/** A call to be made, with what it costs in dollars. */
interface PricedCall {
  readonly derivation: Derivation
  readonly plan: Plan
  readonly price: Price
  /** Whether it is to be made, and not answered by a response that is there already. */
  readonly isBegun: boolean
  /** Counts it towards the bounds of the run; false when they have no room for it. */
  begin(): boolean
}

/**
 * The answers that a run gets for one derivation: equal hashes share what the cache has and, beyond that, one call (D25).
 * Remembered are answers in use and failures; of what has been stored the cache knows.
 */
export class Answers {
  readonly #options: AnswersOptions
  readonly #inUse = new Map<string, Answer>()
  #unloaded: Answer[] = []
  readonly #failed = new Map<string, FailedTargets>()
  /** The hashes whose answer of this run is in the cache, where cells ask anew. */
  readonly #refreshed = new Set<string>()
  /** The batches of a kind that has `runBatch`. */
  #batches: Batches | null = null

  constructor(options: AnswersOptions) {
    this.#options = options
  }

  /**
   * The answer to a hash, for a user who lets it go again when its cells are stored; {@link load} comes first. `request` is the key of
   * its request, where responses are reused. `readAt`: when these were read, by `performance.now()`.
   */
  take(hash: string, request: string | null, readAt: number): Answer {
    const answer = this.#inUse.get(hash) ?? this.#newAnswer(hash, request, readAt)
    answer.users += 1
    return answer
  }

  /** Reads what the store has for answers that are new. */
  async load(): Promise<void> {
    const answers = this.#unloaded
    if (answers.length === 0) return
    this.#unloaded = []
    const { cached, usesCache, reuse } = this.#options
    const wanted = answers.filter(({ isOfRun }) => usesCache || isOfRun)
    const entries = await cached(wanted.map(({ hash }) => hash))
    for (const answer of wanted) answer.entry = entries.get(answer.hash)
    if (reuse === undefined) return
    const requests = answers.map(({ request }) => request).filter((request) => request !== null)
    const kept = await reuse.find(requests)
    for (const answer of answers) answer.isKept = answer.request !== null && kept.has(answer.request)
  }

  /** Whether no call is needed, since the store has kept a response or the run has asked for it before. */
  isReusable({ request, isKept }: Answer): boolean {
    return isKept || (request !== null && this.#options.reuse?.isMade(request) === true)
  }

  /** Forgets an answer that nobody uses; the cache has what it brought, but for failures. */
  letGo(answer: Answer): void {
    answer.users -= 1
    if (answer.users > 0) return
    this.#inUse.delete(answer.hash)
    if (answer.outcome === null) return
    const { failed } = answer.outcome
    if (failed !== null) this.#failed.set(answer.digest, failed)
    if (this.#options.asksAnew) this.#refreshed.add(answer.digest)
  }

  /** Makes the call of an answer, unless there is a response to reuse. Whoever needs it waits for `answer.call`. */
  call(answer: Answer, call: PricedCall, context: RunContext): void {
    answer.call = this.#comeBy(answer, call, context)
  }

  /** Comes to null when nobody needs the answer any more. */
  async #comeBy(answer: Answer, call: PricedCall, context: RunContext): Promise<CallOutcome | null> {
    const { calls } = this.#options
    try {
      if (answer.request !== null) answer.outcome = await this.#reusedOrMade(answer, call, context)
      else if (calls === undefined || !makesCalls(call.derivation.kind))
        answer.outcome = this.#outcome(call, await this.#compute(call, context))
      else answer.outcome = await this.#callOnce(calls, answer, call, context)
      return answer.outcome
    } catch (error) {
      if (!(error instanceof NotWanted)) throw error
      // Who needs it from now on has it called for anew.
      answer.call = null
      answer.hasNoRoom = error instanceof NoRoom
      answer.waiting.length = 0
      return null
    }
  }

  /** Computes from a response that is there already; makes the call where there is none. */
  async #reusedOrMade(answer: Answer, call: PricedCall, context: RunContext): Promise<CallOutcome> {
    const { calls, reuse } = this.#options
    const { request } = answer
    if (reuse === undefined || request === null) throw new Error('the run reuses no responses')
    if (!call.isBegun) {
      const brought = await reuse.bring(request, context.stored)
      if (brought !== null) return this.#outcomeOfResponse(call, request, brought)
      // It was not made after all, or has been removed since it was found.
      if (!call.begin()) throw new NoRoom()
    }
    const { promise, resolve } = Promise.withResolvers<MadeCall>()
    reuse.begin(request, promise, context.stored)
    let made: MadeCall = null
    try {
      const outcome =
        calls === undefined
          ? this.#outcome(call, await this.#compute(call, context))
          : await this.#callOnce(calls, answer, call, context)
      made = outcome.failure === undefined ? ok(outcome.response) : err(outcome.failure)
      return outcome
    } finally {
      resolve(made)
    }
  }

  /** Makes a call, unless another process makes it. */
  async #callOnce(
    calls: SharedCalls,
    { hash, request }: Answer,
    call: PricedCall,
    context: RunContext,
  ): Promise<CallOutcome> {
    const { reuse } = this.#options
    const claim = { hash: request ?? hash, price: call.price ?? 0 }
    const settled = await calls.claim(claim, context.signal)
    if (settled !== null) {
      if (reuse === undefined || request === null) return this.#outcomeOf(call, settled)
      const { failed } = settled
      const brought =
        failed === null ? await reuse.bring(request, context.stored) : err(failed as unknown as Failure)
      if (brought !== null) return this.#outcomeOfResponse(call, request, brought)
      // The other process received what must not be kept.
      return this.#outcome(call, await this.#compute(call, context))
    }
    let wasBegun = false
    let wasSent = false
    let isFree = false
    const onBegun = (): void => {
      wasBegun = true
      context.onBegun?.()
    }
    const onSent = (): void => {
      wasBegun = true
      wasSent = true
      context.onSent()
    }
    const onFree = (): void => {
      isFree = true
      context.onFree?.()
    }
    try {
      const result = await this.#compute(call, { ...context, onBegun, onSent, onFree })
      const outcome = this.#outcome(call, result)
      const cost = actualCost(outcome, { price: call.price, wasSent }) ?? 0
      if (cost !== claim.price) await calls.settle(claim, cost)
      return outcome
    } catch (error) {
      if (isFree) await calls.settle(claim, 0).catch(() => undefined)
      if (error instanceof NotWanted) await calls.release(claim, wasBegun)
      // Whichever process has the task next makes the call within the bounds of the run.
      else if (!wasBegun) await calls.release(claim, false).catch(() => undefined)
      throw error
    }
  }

  #compute({ derivation, plan }: PricedCall, context: RunContext): Promise<Result<Computed, Failure>> {
    const { kind, spec } = derivation
    if (kind.runBatch === undefined) return kind.run(spec, plan, context)
    this.#batches ??= new Batches(kind.runBatch.bind(kind), spec)
    return this.#batches.add(plan, context)
  }

  /** The result of evaluating a kept response. */
  #outcomeOfResponse(call: PricedCall, request: string, brought: NonNullable<Brought>): CallOutcome {
    const { derivation, plan } = call
    const { responses } = derivation.kind
    if (!brought.ok || responses === undefined) {
      const failure = brought.ok ? missingTarget(plan) : brought.error
      const result = responses?.evaluateFailure?.(derivation.spec, plan, failure) ?? err(failure)
      return { ...this.#outcome(call, result), reused: request }
    }
    const { provenance, ...outcome } = this.#outcome(
      call,
      responses.evaluate(derivation.spec, plan, brought.value),
    )
    const said = { ...provenance, received_at: brought.value.at }
    return { ...outcome, provenance: said, reused: request }
  }

  /** Returns the outcome of a call that another process has made. */
  async #outcomeOf({ derivation, plan }: PricedCall, { hash, failed }: SettledCall): Promise<CallOutcome> {
    const entry = (await this.#options.cached([hash])).get(hash)
    const failures = (failed ?? {}) as unknown as FailedTargets
    const values = derivation.targets.map((target): TargetOutcome => {
      if (Object.hasOwn(failures, target)) return [target, failures[target] ?? err(missingTarget(plan))]
      const value =
        entry !== undefined && Object.hasOwn(entry.values, target) ? entry.values[target] : undefined
      return [target, value === undefined ? err(missingTarget(plan)) : ok(value)]
    })
    return outcomeOf(values, { provenance: entry?.provenance ?? {}, isOthers: true })
  }

  /** Returns the outcome of a call of this process. */
  #outcome({ derivation, plan }: PricedCall, result: Result<Computed, Failure>): CallOutcome {
    if (result.ok) refuseCommonMembers(derivation.kind.name, result.value.evidence)
    const values = derivation.targets.map(
      (target) => [target, result.ok ? this.#check(plan, target, result.value) : result] as const,
    )
    const outcome = outcomeOf(values, {
      provenance: result.ok ? provenanceOf(result.value) : {},
      isOthers: false,
    })
    if (!result.ok) return { ...outcome, failure: result.error }
    const { response, cost, usage, inputHash, isCached } = result.value
    return {
      ...outcome,
      response,
      usage,
      ...(cost !== undefined && { cost }),
      ...(inputHash !== undefined && { inputHash }),
      ...(isCached !== undefined && { isCached }),
    }
  }

  /** Holds what was computed for a target against the contract (D26). */
  #check(plan: Plan, target: string, { values }: Computed): Result<JsonValue, Failure> {
    const value = Object.hasOwn(values, target) ? values[target] : undefined
    if (value === undefined) return err(missingTarget(plan))
    const field = this.#options.contract.fieldByName.get(target)
    if (!value.ok || field === undefined) return value
    const coerced = coerceComputed(field, value.value)
    const fault = this.#options.validates ? valueError(field, coerced) : null
    const detail = (typeof coerced === 'string' ? lostDigits(value.value) : null) ?? fault
    return detail === null ? ok(coerced) : err(contractFailure(plan, target, detail))
  }

  #newAnswer(hash: string, request: string | null, readAt: number): Answer {
    const digest = digestOf(hash)
    const failed = this.#failed.get(digest) ?? NONE_FAILED
    const isOfRun = this.#refreshed.has(digest)
    const answer: Answer = {
      hash,
      digest,
      request,
      isKept: false,
      entry: undefined,
      isOfRun,
      failed,
      call: null,
      hasNoRoom: false,
      outcome: null,
      users: 0,
      waiting: [],
      since: readAt,
    }
    if (this.#options.usesCache || isOfRun || request !== null) this.#unloaded.push(answer)
    this.#inUse.set(hash, answer)
    return answer
  }
}

/** Returns what a call cost: its estimate where the kind says nothing else, and nothing where it was never sent. */
export function actualCost(
  { cost }: CallOutcome,
  { price, wasSent }: { readonly price: Price; readonly wasSent: boolean },
): Price {
  if (wasSent) return cost === undefined ? price : cost
  return price === null ? null : 0
}

function outcomeOf(
  targets: readonly TargetOutcome[],
  of: Pick<CallOutcome, 'provenance' | 'isOthers'>,
): CallOutcome {
  const failed = targets.filter(([, { ok: isOk }]) => !isOk)
  const { provenance, isOthers } = of
  return {
    values: Object.fromEntries(targets),
    failed: failed.length === 0 ? null : (Object.fromEntries(failed) as FailedTargets),
    provenance,
    isOthers,
  }
}

function provenanceOf({ evidence, receivedAt = null }: Computed): JsonObject {
  return receivedAt === null ? evidence : { ...evidence, received_at: receivedAt }
}

/** Returns the cache entry of a call: its values that the contract allows. Empty for none. */
export function cacheEntries(hash: string, { values, provenance }: CallOutcome): CacheEntry[] {
  const good: (readonly [string, JsonValue])[] = []
  for (const [target, result] of Object.entries(values)) if (result.ok) good.push([target, result.value])
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

function missingTarget(plan: Plan): Failure {
  return { reason: 'network', request: plan.request, detail: 'the answer has nothing for this field' }
}

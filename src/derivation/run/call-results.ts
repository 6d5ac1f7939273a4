import type { Contract } from '../../contract/contract.ts'
import type { Failure } from '../../errors/failure.ts'
import { err, ok, type Result } from '../../errors/result.ts'
import type { SettledCall } from '../../store/cell-work.ts'
import type { CacheEntry, WorkCell, WorkItem } from '../../store/cell-work.ts'
import {
  makesCalls,
  NoRoom,
  type Computed,
  type Derivation,
  type Plan,
  type RunContext,
} from '../definition/derivation-kind.ts'
import { NotWanted } from '../limiter/limiter.ts'
import type { Price } from '../plan/budget.ts'
import { digestOf } from '../plan/hash-digest.ts'
import { Batches } from './batches.ts'
import {
  actualCost,
  missingTarget,
  outcomeOf,
  outcomeOfResult,
  type CallOutcome,
  type FailedTargets,
  type TargetOutcome,
} from './call-outcome.ts'
import type { Brought, MadeCall, ReusedResponses } from './reused-responses.ts'
import type { RecordedCall } from '../recording/recorded-call.ts'
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
  /** The requests that the call has sent, with their results. */
  readonly recorded: RecordedCall[]
  /** Whether other calls wait until its result is stored. */
  isAwaited: boolean
  /** Records that wait for it or whose cells are not stored yet. */
  users: number
  /** The cells that wait for the call. */
  readonly waiting: { readonly item: WorkItem; readonly cells: readonly WorkCell[] }[]
  /** The time at which the first of them was read, by `performance.now()`. */
  readonly since: number
}

const NONE_FAILED: FailedTargets = {}

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
  #outcome(call: PricedCall, result: Result<Computed, Failure>): CallOutcome {
    return outcomeOfResult(call, result, this.#options)
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
      recorded: [],
      isAwaited: false,
      users: 0,
      waiting: [],
      since: readAt,
    }
    if (this.#options.usesCache || isOfRun || request !== null) this.#unloaded.push(answer)
    this.#inUse.set(hash, answer)
    return answer
  }
}

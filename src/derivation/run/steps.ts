import { setImmediate as nextTurn } from 'node:timers/promises'
import type { JsonObject } from '../../contract/json/json.ts'
import { ok } from '../../errors/result.ts'
import { evidenceOf } from '../definition/evidence.ts'
import {
  makesCalls,
  NoRoom,
  type Computed,
  type Derivation,
  type StepOutcome,
  type StepPlan,
} from '../definition/derivation-kind.ts'
import { NotWanted } from '../limiter/limiter.ts'
import type { Price } from '../plan/budget.ts'
import { beginCall, noteOutcome } from './begin-call.ts'
import { callBehind } from './call-behind.ts'
import type { CallOutcome } from './call-outcome.ts'
import { Answers, type Answer } from './call-results.ts'
import type { PartsOfRun } from './parts-of-run.ts'

type IsWanted = () => boolean | Promise<boolean>

/** The call of a step, with the records that need it. */
interface StepCall {
  /** Resolves when its result is stored, with what it cost the record that it was made for. */
  readonly stored: Promise<{ readonly outcome: CallOutcome; readonly cost: Price } | null>
  /** That of the record that it was made for. */
  readonly isWanted: IsWanted
  /** Those of all records. */
  readonly needs: IsWanted[]
}

/** The needs of a record for a step. */
interface StepOrder {
  /** The most dollars that it may cost; null for no bound. */
  readonly most: number | null
  readonly recordId: string
  /** Whether the record still needs it. */
  readonly isWanted: IsWanted
}

/**
 * Carries out the steps of computations for one derivation of a run. A step has all that a derivation of its kind has: cache, shared calls,
 * kept responses, bounds and limits. Its result is stored before the next step of a record begins, also null and a value that the contract
 * refuses, so that no process pays for it again.
 */
export class Steps {
  readonly #parts: PartsOfRun
  /** By the hash of the definition of a step. */
  readonly #answers = new Map<string, StepAnswers>()
  readonly #calls = new WeakMap<Answer, StepCall>()

  constructor(parts: PartsOfRun) {
    this.#parts = parts
  }

  /** See `step` of a computation's context. */
  async carryOut(step: StepPlan, { most, recordId, isWanted }: StepOrder): Promise<StepOutcome> {
    const { planner, reuse, signal } = this.#parts
    const answers = this.#answersOf(step.derivation)
    const request = reuse === undefined ? null : planner.requestKey(step)
    const answer = await answers.take(step.hash, request)
    try {
      const known = answers.known(answer, step.derivation.targets)
      if (known !== null) return known
      const { refusal } = step.derivation
      const isReusable = answers.all.isReusable(answer)
      if (refusal !== null && !isReusable) return { outcome: 'refused', detail: refusal }
      const price = planner.price(step)
      const isTooDear = most !== null && price !== null && price > most && !isReusable
      for (;;) {
        const running = this.#calls.get(answer)
        // A call that another record pays for costs this one nothing.
        if (running === undefined && isTooDear) return { outcome: 'too_dear', price }
        running?.needs.push(isWanted)
        const call =
          running ?? (await this.#begin(step, { answers: answers.all, answer, recordId, isWanted }))
        const made = await call.stored
        if (made === null && answer.hasNoRoom) throw new NoRoom()
        if (made === null) {
          // It was given up for other records before this one needed it.
          if (this.#parts.streak.stopped !== null || !(await isWanted())) throw new NotWanted()
          continue
        }
        const { outcome, cost } = made
        // A failure of a run that is stopped may be due to that.
        if (outcome.failed !== null) signal.throwIfAborted()
        const isMine = call.isWanted === isWanted && !outcome.isOthers && outcome.reused === undefined
        return {
          outcome: 'computed',
          values: outcome.values,
          ...knownOf(outcome.provenance),
          cost: isMine ? cost : 0,
          tookCall: isMine && makesCalls(step.derivation.kind),
          isCached: !isMine,
        }
      }
    } finally {
      answers.all.letGo(answer)
    }
  }

  /** Begins the call of a step. Rejects with NoRoom if the bounds of the run refuse it, and with NotWanted once the run is stopped. */
  async #begin(
    step: StepPlan,
    {
      answers,
      answer,
      recordId,
      isWanted,
    }: Omit<StepOrder, 'most'> & { readonly answers: Answers; readonly answer: Answer },
  ): Promise<StepCall> {
    const { planner, budget, streak, signal } = this.#parts
    const isCall = makesCalls(step.derivation.kind)
    while (isCall && !answers.isReusable(answer) && budget.isShort(planner.price(step))) {
      await budget.nextSettled()
      signal.throwIfAborted()
      if (streak.stopped !== null) throw new NotWanted()
    }
    // Another record may have begun it meanwhile.
    const running = this.#calls.get(answer)
    if (running !== undefined) {
      running.needs.push(isWanted)
      return running
    }
    const needs = [isWanted]
    let cost: Price = 0
    const { promise: isStored, resolve: onStored } = Promise.withResolvers<void>()
    const isBegun = beginCall(this.#parts, answers, {
      planned: step,
      recordId,
      answer,
      stored: isStored,
      isWanted: () => isAnyWanted(needs),
      onSettled: (actual) => {
        cost = actual
      },
    })
    if (!isBegun) throw streak.stopped === null ? new NoRoom() : new NotWanted()
    const stored = this.#store(step, answer)
      .then((outcome) => {
        if (outcome === null) this.#calls.delete(answer)
        return outcome && { outcome, cost }
      })
      .finally(onStored)
    // Whoever needs the call rejects with its error.
    stored.catch(() => undefined)
    const call = { isWanted, needs, stored }
    this.#calls.set(answer, call)
    return call
  }

  /** Stores the result of a step, unless another process does. Resolves to null if it was not carried out. */
  async #store(step: StepPlan, answer: Answer): Promise<CallOutcome | null> {
    const outcome = (await answer.call) ?? null
    if (outcome === null || outcome.isOthers) return outcome
    if (outcome.reused === undefined) noteOutcome(this.#parts, step.derivation, outcome)
    await this.#parts.commits.add({ results: [], ...callBehind(step, outcome, answer) })
    return outcome
  }

  #answersOf({ sha256 }: Derivation): StepAnswers {
    const known = this.#answers.get(sha256)
    if (known !== undefined) return known
    const { planner, calls, reuse } = this.#parts
    const { contract, force } = planner.request
    const all = new Answers({
      contract,
      validates: false,
      usesCache: !force,
      asksAnew: force,
      cached: (hashes) => planner.cached(hashes),
      ...(calls !== undefined && { calls }),
      ...(reuse !== undefined && { reuse }),
    })
    const answers = new StepAnswers(all)
    this.#answers.set(sha256, answers)
    return answers
  }
}

/** The answers for a step, with those that are taken in the same turn of the event loop read together. */
class StepAnswers {
  readonly all: Answers
  #loading: Promise<unknown> = Promise.resolve()
  #next: Promise<unknown> | null = null

  constructor(all: Answers) {
    this.all = all
  }

  /** Resolves when the answer has what the store has for it. */
  async take(hash: string, request: string | null): Promise<Answer> {
    const answer = this.all.take(hash, request, performance.now())
    const before = this.#loading
    if (this.#next === null) {
      this.#next = nextTurn().then(() => {
        this.#next = null
        return Promise.all([before, this.all.load()])
      })
      this.#loading = this.#next
    }
    await this.#next
    return answer
  }

  /** Returns what is known of a step without a call: its values in the cache, or its failure in this run. Null for nothing. */
  known({ entry, failed }: Answer, targets: readonly string[]): StepOutcome | null {
    const values: Record<string, Computed['values'][string]> = {}
    for (const target of targets) {
      if (Object.hasOwn(failed, target) && failed[target] !== undefined) values[target] = failed[target]
      else if (entry !== undefined && Object.hasOwn(entry.values, target))
        values[target] = ok(entry.values[target] ?? null)
      else return null
    }
    return {
      outcome: 'computed',
      values,
      ...knownOf(entry?.provenance ?? {}),
      cost: 0,
      tookCall: false,
      isCached: true,
    }
  }
}

/** Whether any of the records still needs a call. */
async function isAnyWanted(needs: readonly IsWanted[]): Promise<boolean> {
  for (const isWanted of needs) if (await isWanted()) return true
  return false
}

/** Returns the evidence in the provenance of a result, and when the kept response was received that it comes from. */
function knownOf(provenance: JsonObject): {
  readonly evidence: JsonObject
  readonly receivedAt: string | null
} {
  const { received_at: receivedAt = null } = provenance
  return { evidence: evidenceOf(provenance), receivedAt: typeof receivedAt === 'string' ? receivedAt : null }
}

import type { JsonValue } from '../../contract/json/json.ts'
import type { CacheEntry, SettledCall, UsedAmounts } from '../../store/cell-work.ts'
import type { ReceivedResponse } from '../../store/stored-responses.ts'
import type { Derivation, StepResult } from '../definition/derivation-kind.ts'
import { stepKey, usageKey } from '../plan/usage-key.ts'
import type { RecordedCall } from '../recording/recorded-call.ts'
import { cacheEntries, type CallOutcome } from './call-outcome.ts'
import type { Answer } from './call-results.ts'

/** The part of a call that is stored beside its cells. */
export interface CallBehind {
  readonly cache: readonly CacheEntry[]
  /** The calls, for other processes that wait for them. */
  readonly made: readonly SettledCall[]
  /** The responses that these calls received, and the keys of those that were used instead of calls. */
  readonly responses: readonly ReceivedResponse[]
  readonly used: readonly string[]
  /** The usage of the calls. */
  readonly usage: readonly UsedAmounts[]
  /** The requests that the calls have sent, with their results. */
  readonly recorded: readonly RecordedCall[]
  /** The results of steps, which the run counts. */
  readonly steps: readonly StepResult[]
  /** Whether other calls wait until it is stored. */
  readonly isAwaited: boolean
}

const NONE: readonly never[] = []

export const NO_CALL: CallBehind = {
  cache: NONE,
  made: NONE,
  responses: NONE,
  used: NONE,
  usage: NONE,
  recorded: NONE,
  steps: NONE,
  isAwaited: false,
}

/** A computation whose call is stored. */
interface ComputationBehind {
  readonly derivation: Derivation
  /** Its input hash. */
  readonly hash: string
}

/** The keys of usage, which are the same for all computations of a derivation. */
const usageKeys = new WeakMap<Derivation, string>()

/** The keys of steps, by their condition. */
const stepKeys = new WeakMap<Derivation, Map<string | null, string>>()

/**
 * Returns what is stored of a call beside its cells. A computation of steps is no call, and the cache has the results of its steps.
 * `request` of its answer: the key by which processes share the call, where it is not the input hash.
 */
export function callBehind(
  { derivation, hash }: ComputationBehind,
  outcome: CallOutcome,
  { request, recorded, isAwaited }: Pick<Answer, 'request' | 'recorded' | 'isAwaited'>,
): CallBehind {
  const { response, reused, usage, inputHash } = outcome
  if (inputHash !== undefined) return NO_CALL
  const cache = cacheEntries(hash, outcome)
  if (reused !== undefined) return { ...NO_CALL, cache, used: [reused] }
  const failed = (request === null ? outcome.failed : (outcome.failure ?? null)) as unknown as JsonValue
  return {
    cache,
    made: [{ hash: request ?? hash, failed }],
    responses: response === undefined ? NONE : [response],
    used: NONE,
    usage: usage === undefined ? NONE : [{ key: usageKeyOf(derivation), amounts: usage }],
    recorded,
    steps: NONE,
    isAwaited,
  }
}

/** Returns what is stored of the result of a step beside its cache entry. */
export function countOfStep(result: StepResult): CallBehind {
  return { ...NO_CALL, usage: [usageOfStep(result)], steps: [result] }
}

/** Returns the counts of a step from which plans know how often it is accepted, and what it costs. */
function usageOfStep({ step, isAccepted, cost }: StepResult): UsedAmounts {
  const { derivation, condition } = step
  const keys = stepKeys.get(derivation) ?? new Map<string | null, string>()
  stepKeys.set(derivation, keys)
  const key = keys.get(condition) ?? stepKey(step)
  keys.set(condition, key)
  return { key, amounts: { accepted: isAccepted ? 1 : 0, cost: cost ?? 0 } }
}

function usageKeyOf(derivation: Derivation): string {
  const known = usageKeys.get(derivation)
  if (known !== undefined) return known
  const key = usageKey(derivation)
  usageKeys.set(derivation, key)
  return key
}

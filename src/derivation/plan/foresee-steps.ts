import type { JsonValue } from '../../contract/json/json.ts'
import { valueError } from '../../contract/values/validate-value.ts'
import type { CacheEntry } from '../../store/cell-work.ts'
import { makesCalls, type Derivation, type Plan, type StepPlan } from '../definition/derivation-kind.ts'
import type { Price } from './budget.ts'
import type { Planner } from './planner.ts'

/** A call that a computation of steps may take. */
export interface ForeseenCall {
  readonly step: StepPlan
  /** The most that it can cost within the bound of its record. */
  readonly price: Price
  /** Whether it is made whatever earlier steps bring. */
  readonly isCertain: boolean
  /** The expected share of such computations that make it, by the results so far; null if unknown. */
  readonly reach: number | null
}

/** The foreseeable part of a computation of steps. */
export interface ForeseenSteps {
  /** All calls that it may take, in their order. */
  readonly calls: readonly ForeseenCall[]
  /** Whether something is computed, and not only taken from the cache. */
  readonly isComputed: boolean
  /** Whether it certainly fails without a call: this machine does not carry out the step that is needed, or it exceeds the bound of a record. */
  readonly isRefused: boolean
}

/** The steps of a computation, and what the store has for them. */
interface StepsOfPlan {
  readonly derivation: Derivation
  readonly plan: Plan
  readonly entries: ReadonlyMap<string, CacheEntry>
  /** Whether the store has kept a response that is used instead of the call of a step. */
  isKept(step: StepPlan): boolean
}

/** Returns the steps of a computation; empty for a kind without steps. */
export function stepsOf({ kind }: Derivation, plan: Plan): readonly StepPlan[] {
  return kind.stepsOf?.(plan) ?? []
}

/**
 * Foresees a computation of steps, of which each may be the last: all that its steps may take, up to the first value in the cache that is
 * certainly accepted.
 */
export function foreseeSteps(
  planner: Planner,
  { derivation, plan, entries, isKept }: StepsOfPlan,
): ForeseenSteps {
  const most = derivation.kind.maxCostOf?.(derivation.spec) ?? null
  const calls: ForeseenCall[] = []
  let left = most
  let isCertain = true
  let isComputed = false
  let reach: number | null = 1
  const passOn = (step: StepPlan): void => {
    const hits = planner.hitRate(step)
    reach = reach === null || hits === null ? null : reach * (1 - hits.rate)
    isCertain = false
  }
  for (const step of stepsOf(derivation, plan)) {
    const known = planner.request.force ? null : valuesOf(entries.get(step.hash), derivation.targets)
    if (known !== null) {
      if (isPassedOn(planner, known)) continue
      if (step.condition === null) return { calls, isComputed, isRefused: false }
      passOn(step)
      continue
    }
    const { kind, refusal } = step.derivation
    const isCall = makesCalls(kind) && !isKept(step)
    if (isCall && refusal !== null) return { calls, isComputed, isRefused: isCertain }
    if (isCall) {
      const price = planner.price(step)
      if (most !== null && price !== null && price > most) return { calls, isComputed, isRefused: isCertain }
      calls.push({
        step,
        price: price === null || left === null ? price : Math.min(price, left),
        isCertain,
        reach,
      })
      if (left !== null) left = Math.max(0, Math.round((left - (price ?? 0)) * 1e9) / 1e9)
    }
    isComputed = true
    passOn(step)
  }
  return { calls, isComputed, isRefused: isCertain && derivation.kind.isCutShort?.(plan) === true }
}

/** Returns the cached values of a step, by target; null unless there is one for each. */
function valuesOf(
  entry: CacheEntry | undefined,
  targets: readonly string[],
): ReadonlyMap<string, JsonValue> | null {
  if (entry === undefined || !targets.every((target) => Object.hasOwn(entry.values, target))) return null
  return new Map(targets.map((target) => [target, entry.values[target] ?? null]))
}

/** Whether a step with these values certainly passes on to the next. */
function isPassedOn({ request }: Planner, values: ReadonlyMap<string, JsonValue>): boolean {
  const all = [...values]
  if (all.every(([, value]) => value === null)) return true
  return all.some(([target, value]) => {
    const field = request.contract.fieldByName.get(target)
    return field === undefined || valueError(field, value) !== null
  })
}

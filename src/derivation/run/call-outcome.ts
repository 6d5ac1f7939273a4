import type { Contract } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { coerceComputed, valueError } from '../../contract/values/validate-value.ts'
import type { Failure } from '../../errors/failure.ts'
import { err, ok, type Result } from '../../errors/result.ts'
import type { CacheEntry } from '../../store/cell-work.ts'
import type { ReceivedResponse } from '../../store/stored-responses.ts'
import type { Computed, Derivation, Plan } from '../definition/derivation-kind.ts'
import { refuseCommonMembers } from '../definition/evidence.ts'
import type { Price } from '../plan/budget.ts'

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

export type FailedTargets = { readonly [target: string]: { readonly ok: false; readonly error: Failure } }

export type TargetOutcome = readonly [target: string, result: Result<JsonValue, Failure>]

/** The contract, and whether values that violate it are failures. */
interface Validation {
  readonly contract: Contract
  readonly validates: boolean
}

/** Returns the outcome of a computation of this process. Throws Error for a kind whose evidence has a reserved name. */
export function outcomeOfResult(
  { derivation, plan }: { readonly derivation: Derivation; readonly plan: Plan },
  result: Result<Computed, Failure>,
  validation: Validation,
): CallOutcome {
  if (result.ok) refuseCommonMembers(derivation.kind.name, result.value.evidence)
  const values = derivation.targets.map(
    (target) => [target, result.ok ? checked(plan, target, result.value, validation) : result] as const,
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

/** Validates what was computed for a target against the contract (D26). */
function checked(
  plan: Plan,
  target: string,
  { values }: Computed,
  { contract, validates }: Validation,
): Result<JsonValue, Failure> {
  const value = Object.hasOwn(values, target) ? values[target] : undefined
  if (value === undefined) return err(missingTarget(plan))
  const field = contract.fieldByName.get(target)
  if (!value.ok || field === undefined) return value
  const coerced = coerceComputed(field, value.value)
  const fault = validates ? valueError(field, coerced) : null
  const detail = (typeof coerced === 'string' ? lostDigits(value.value) : null) ?? fault
  return detail === null ? ok(coerced) : err(contractFailure(plan, target, detail))
}

/** Returns what a call cost: its estimate where the kind says nothing else, and nothing where it was never sent. */
export function actualCost(
  { cost }: CallOutcome,
  { price, wasSent }: { readonly price: Price; readonly wasSent: boolean },
): Price {
  if (wasSent) return cost === undefined ? price : cost
  return price === null ? null : 0
}

export function outcomeOf(
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

export function missingTarget(plan: Plan): Failure {
  return { reason: 'network', request: plan.request, detail: 'the answer has nothing for this field' }
}

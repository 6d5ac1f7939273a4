import type { JsonObject } from '../../../contract/json/json.ts'
import { isLasting, renderFailure, type Failure } from '../../../errors/failure.ts'
import type { StepOutcome } from '../../definition/derivation-kind.ts'
import { isNothing, type Verdict } from './verdict.ts'

type Computed = Extract<StepOutcome, { outcome: 'computed' }>

/** A step of one computation. */
export interface StepToTry<P> {
  /** Its place in the file, from 1. */
  readonly number: number
  readonly kind: string
  readonly planned:
    | { readonly outcome: 'run'; readonly plan: P }
    /** Nothing is computed: an input is empty, or its kind skips these inputs. */
    | { readonly outcome: 'skipped'; readonly detail: string }
    | { readonly outcome: 'failed'; readonly failure: Failure }
    /** It cannot be carried out whatever the inputs, such as for a missing table. */
    | { readonly outcome: 'unusable'; readonly detail: string }
}

/** A step that was tried, as provenance has it. */
export interface TriedStep extends JsonObject {
  readonly step: number
  readonly kind: string
  readonly outcome: 'accepted' | 'null' | 'refused' | 'failed' | 'skipped'
}

/** The result of a step that was not known before. */
export interface NewResult<P> {
  readonly plan: P
  readonly isAccepted: boolean
  /** Dollars; null if unknown. */
  readonly cost: number | null
}

/** The end of a computation. */
export type StepsEnd<P> = {
  readonly tried: readonly TriedStep[]
  /** Whether the cache had the results of all steps that were carried out. */
  readonly isCached: boolean
} & (
  | { readonly end: 'accepted'; readonly number: number; readonly plan: P; readonly result: Computed }
  /** No step has a value, and none failed or had one refused. */
  | { readonly end: 'nothing' }
  /** No step was accepted. `isLasting`: whether the same steps are expected to end so again. */
  | { readonly end: 'none_accepted'; readonly detail: string; readonly isLasting: boolean }
  /** A step could not be carried out for a reason other than this record; later steps are not tried instead. */
  | { readonly end: 'stopped'; readonly detail: string; readonly failure: Failure | null }
  /** The next step may cost more than is left for the record. */
  | { readonly end: 'too_dear'; readonly detail: string }
)

export interface StepsContext<P> {
  /** The most that the steps may cost together, in dollars; null for no bound. */
  readonly maxCost: number | null
  carryOut(plan: P, most: number | null): Promise<StepOutcome>
  /** Validates the values of a step. */
  judge(number: number, values: Computed['values']): Promise<Verdict>
  /** Receives each result that was not known before. */
  onResult?(result: NewResult<P>): void
}

/** Reasons that say nothing of the record. */
const MACHINE_REASONS: ReadonlySet<Failure['reason']> = new Set([
  'refused',
  'no_stub_response',
  'not_recorded',
])

/** Statuses for which a call fails whatever the record: a wrong key, no money, no permission. */
const OF_THE_ACCOUNT: readonly number[] = [401, 402, 403]

/** Whole billionths of a dollar: sums of floating-point numbers are not exact. */
const PARTS = 1e9

/**
 * Tries steps in their order until a value is accepted. A step that fails, has no value, or has one that is refused passes on to the next.
 * A step that cannot be carried out for a reason other than the record ends the computation: the next one may be worse or dearer.
 */
export async function trySteps<P>(
  steps: readonly StepToTry<P>[],
  { maxCost, carryOut, judge, onResult }: StepsContext<P>,
): Promise<StepsEnd<P>> {
  const tried: TriedStep[] = []
  const reasons: string[] = []
  let isNone = true
  let lasts = true
  let spent = 0
  let isCached = true
  const passOn = (
    { number, kind }: StepToTry<P>,
    outcome: TriedStep['outcome'],
    {
      detail,
      ...members
    }: { readonly detail?: string; readonly cost?: number | null; readonly cached?: true },
  ): void => {
    const shown = detail === undefined ? {} : { detail }
    tried.push({ step: number, kind, outcome, ...shown, ...members })
    reasons.push(`${number} ${kind}: ${detail ?? 'no value'}${costText(members.cost)}`)
    if (outcome === 'failed' || outcome === 'refused') isNone = false
  }
  for (const step of steps) {
    const { number, kind, planned } = step
    const named = `step ${number} (${kind})`
    if (planned.outcome === 'skipped') {
      passOn(step, 'skipped', { detail: planned.detail })
      continue
    }
    if (planned.outcome === 'failed') {
      passOn(step, 'failed', { detail: renderFailure(planned.failure).detail })
      lasts &&= isLasting(planned.failure)
      continue
    }
    if (planned.outcome === 'unusable') {
      return {
        end: 'stopped',
        tried,
        isCached,
        detail: `${named}: ${planned.detail}`,
        failure: null,
      }
    }
    const left = maxCost === null ? null : Math.max(0, Math.round(maxCost * PARTS) - spent) / PARTS
    const result = await carryOut(planned.plan, left)
    if (result.outcome === 'refused') {
      return { end: 'stopped', tried, isCached, detail: `${named}: ${result.detail}`, failure: null }
    }
    if (result.outcome === 'too_dear') {
      const cost = `${named} may cost ${dollars(result.price)}, and ${dollars(left ?? 0)} of max_cost_per_record is left`
      return { end: 'too_dear', tried, isCached, detail: [...reasons, cost].join('; ') }
    }
    isCached &&= result.isCached
    spent += Math.round((result.cost ?? 0) * PARTS)
    const note = (isAccepted: boolean): void => {
      if (!result.isCached) onResult?.({ plan: planned.plan, isAccepted, cost: result.cost })
    }
    const members = result.tookCall
      ? { cost: result.cost }
      : { ...(result.isCached && { cached: true as const }) }
    const failure = failureIn(result)
    if (failure !== null && isOfTheMachine(failure)) {
      if (result.tookCall) note(false)
      return {
        end: 'stopped',
        tried,
        isCached,
        detail: `${named}: ${renderFailure(failure).detail}`,
        failure,
      }
    }
    if (failure !== null) {
      note(false)
      passOn(step, 'failed', { detail: renderFailure(failure).detail, ...members })
      lasts &&= isLasting(failure)
      continue
    }
    const verdict = isNothing(result.values) ? 'null' : await judge(number, result.values)
    note(verdict !== 'null' && verdict.is === 'accepted')
    if (verdict === 'null') passOn(step, 'null', members)
    else if (verdict.is === 'refused') passOn(step, 'refused', { detail: verdict.detail, ...members })
    else if (verdict.is === 'unknown') {
      return {
        end: 'stopped',
        tried,
        isCached,
        detail: `${named}: ${verdict.detail}`,
        failure: null,
      }
    } else {
      tried.push({ step: number, kind, outcome: 'accepted', ...members })
      return { end: 'accepted', tried, isCached, number, plan: planned.plan, result }
    }
  }
  if (isNone) return { end: 'nothing', tried, isCached }
  return { end: 'none_accepted', tried, isCached, detail: reasons.join('; '), isLasting: lasts }
}

/** Returns the first failure of a target. */
function failureIn({ values }: Computed): Failure | null {
  for (const value of Object.values(values)) if (!value.ok) return value.error
  return null
}

/** Whether a step failed because of this machine or its account, and would fail for every record. */
function isOfTheMachine(failure: Failure): boolean {
  if (failure.reason === 'status') return OF_THE_ACCOUNT.includes(failure.status)
  return MACHINE_REASONS.has(failure.reason)
}

function costText(cost: number | null | undefined): string {
  return typeof cost === 'number' && cost > 0 ? ` (${dollars(cost)})` : ''
}

function dollars(cost: number): string {
  return `$${String(Math.round(cost * PARTS) / PARTS)}`
}

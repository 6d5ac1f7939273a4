import type { RunPlanAnswer } from '../../../../src/wire/runs/materialize.ts'
import { estimateBasis } from '../../../../src/wire/runs/estimate-basis.ts'
import { rangeMessage } from '../../../../src/wire/runs/range-message.ts'
import { retryMessage } from '../../../../src/wire/runs/retry-message.ts'
import type { RunSummary } from '../../../../src/wire/runs/runs.ts'
import { countOf, formatCount, formatMoney } from '../../ui/format.ts'
import { relativeTime } from '../../ui/time-text.ts'

export interface PlanTotals {
  readonly compute: number
  readonly cached: number
  readonly skipped: number
  /** The skipped cells that the limits exclude. */
  readonly left: number
}

export function totalsOf({ targets }: RunPlanAnswer): PlanTotals {
  const totals = { compute: 0, cached: 0, skipped: 0, left: 0 }
  for (const { compute, cached, skipped, left = 0 } of Object.values(targets)) {
    totals.compute += compute
    totals.cached += cached
    totals.skipped += skipped
    totals.left += left
  }
  return totals
}

/** Whether a run would change nothing. */
export function isNothing(plan: RunPlanAnswer): boolean {
  const { compute, cached } = totalsOf(plan)
  return compute === 0 && cached === 0
}

/** Describes the failed cells that a run does not retry yet. Null for none. */
export function retryText(plan: RunPlanAnswer): string | null {
  const message = retryMessage(plan, (at) => relativeTime(at, Date.now()))
  return message && `${message} To retry now, choose only failed cells.`
}

/** Returns the label of the run button, with the calls and their cost. */
export function runButtonText(plan: RunPlanAnswer): string {
  const { cached } = totalsOf(plan)
  if (plan.calls === 0) return cached > 0 ? `Fill ${countOf(cached, 'cell')} from the cache` : 'Run'
  return `Run ${plan.at_most === true ? 'at most ' : ''}${countOf(plan.calls, 'call')} · ${planCost(plan)}`
}

/** Returns the cost of a plan. */
export function planCost({ calls, cost, unpriced_calls: unpriced = 0 }: RunPlanAnswer): string {
  return costText({ calls, cost, unpriced })
}

/** Returns the range of calls with fallbacks; null for a plan without. */
export function rangeText(plan: RunPlanAnswer): string | null {
  return rangeMessage(plan, { money: formatMoney, calls: (calls) => countOf(calls, 'call') })
}

/** Returns what calls of models are expected to use; empty without such calls. */
export function estimateText({ estimate, cost }: RunPlanAnswer): string {
  if (estimate === undefined) return ''
  const { input_tokens: input, output_tokens: output, cost: expected, basis, results = 0 } = estimate
  const money = cost > 0 ? `${formatMoney(expected)} of at most ${formatMoney(cost)}, ` : ''
  const from = estimateBasis(results, basis !== 'results')
  return `Estimate from ${from}: ${money}${formatCount(input)} input and ${formatCount(output)} output tokens.`
}

/** Returns the cost of a run. */
export function runCost({ calls, total_cost: cost, unpriced_calls: unpriced }: RunCosts): string {
  return costText({ calls, cost, unpriced })
}

type RunCosts = Pick<RunSummary, 'calls' | 'total_cost' | 'unpriced_calls'>

/** Formats a cost; calls to hosts without a price have an unknown cost, not zero. */
function costText(of: { readonly calls: number; readonly cost: number; readonly unpriced: number }): string {
  const { calls, cost, unpriced } = of
  if (unpriced === 0) return formatMoney(cost)
  return unpriced >= calls
    ? 'cost not set'
    : `${formatMoney(cost)} + ${countOf(unpriced, 'call')} of unset cost`
}

/** The calls that kept responses replace, and when these were received. */
export type KeptResponses = NonNullable<RunPlanAnswer['targets'][string]['kept_responses']>

/** Returns the kept responses of a plan; null for none. Fields of one derivation share theirs. */
export function keptResponses({ targets }: RunPlanAnswer): KeptResponses | null {
  return Object.values(targets).reduce<KeptResponses | null>((all, { kept_responses: kept }) => {
    if (kept === undefined || all === null) return kept ?? all
    return {
      calls: Math.max(all.calls, kept.calls),
      oldest: all.oldest < kept.oldest ? all.oldest : kept.oldest,
      newest: all.newest > kept.newest ? all.newest : kept.newest,
    }
  }, null)
}

/** Returns the cost of making all calls again. */
export function callAgainText(plan: RunPlanAnswer): string {
  return `Call again: ${planCost(plan)}`
}

/** Returns the cost of making only the calls without a kept response. */
export function reuseText(again: RunPlanAnswer, reusing: RunPlanAnswer | null): string {
  const most = keptResponses(again)?.calls ?? 0
  // Several derivations have separate responses; within limits, other calls may replace the saved ones.
  const saved = reusing === null ? most : Math.max(most, again.calls - reusing.calls)
  const price = reusing === null ? '…' : planCost(reusing)
  return `Reuse ${countOf(saved, 'kept response')}: ${price}`
}

import type { RunPlanAnswer } from '../../../src/wire/materialize.ts'
import { countOf, formatMoney } from '../ui/format.ts'

export interface PlanTotals {
  readonly compute: number
  readonly cached: number
  readonly skipped: number
}

export function totalsOf({ targets }: RunPlanAnswer): PlanTotals {
  const totals = { compute: 0, cached: 0, skipped: 0 }
  for (const { compute, cached, skipped } of Object.values(targets)) {
    totals.compute += compute
    totals.cached += cached
    totals.skipped += skipped
  }
  return totals
}

/** Whether a run would leave everything as it is. */
export function isNothing(plan: RunPlanAnswer): boolean {
  const { compute, cached } = totalsOf(plan)
  return compute === 0 && cached === 0
}

/** What the button of a run says: what it does and what that costs. */
export function runButtonText(plan: RunPlanAnswer): string {
  const { cached } = totalsOf(plan)
  if (plan.calls === 0) return cached > 0 ? `Fill ${countOf(cached, 'cell')} from the cache` : 'Run'
  return `Run ${plan.at_most === true ? 'at most ' : ''}${countOf(plan.calls, 'call')} · ${costText(plan.cost)}`
}

/** Zero dollars are said in a word. */
export function costText(dollars: number): string {
  return dollars === 0 ? 'free' : formatMoney(dollars)
}

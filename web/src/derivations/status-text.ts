import type { TargetStatusAnswer } from '../../../src/wire/runs/status.ts'
import { formatCount } from '../ui/format.ts'

/** In the order of the bar: the states that need attention are last. */
export const COUNTED_STATES = ['fresh', 'overridden', 'stale', 'missing', 'failed'] as const

export type StatusCounts = Pick<
  TargetStatusAnswer,
  (typeof COUNTED_STATES)[number] | 'blocked' | 'total_records'
>

/** All counts that are not zero: `240 fresh, 2 failed (1 blocked)`. */
export function countsText(counts: StatusCounts): string {
  const parts = COUNTED_STATES.filter((state) => counts[state] > 0).map(
    (state) => `${formatCount(counts[state])} ${state}`,
  )
  const blocked = counts.blocked > 0 ? ` (${formatCount(counts.blocked)} blocked)` : ''
  return `${parts.join(', ')}${blocked}` || 'no records'
}

/** Whether a run has nothing to compute: the cells without a value have an input that has none either. */
export function isComplete(counts: StatusCounts): boolean {
  const { stale, failed, missing, blocked, total_records: total } = counts
  return stale === 0 && failed === 0 && missing === blocked && missing < total
}

/** The most important count: `2 failed`, `all fresh`. */
export function headline(counts: StatusCounts): string {
  if (counts.total_records === 0) return 'no records'
  const whole = COUNTED_STATES.find((state) => counts[state] === counts.total_records)
  if (whole !== undefined) return `all ${whole}`
  if (isComplete(counts))
    return counts.overridden === 0 ? 'complete' : `${formatCount(counts.overridden)} overridden`
  const worst = (['failed', 'stale', 'missing', 'overridden'] as const).find((state) => counts[state] > 0)
  return worst === undefined ? 'complete' : `${formatCount(counts[worst])} ${worst}`
}

/** Adds the counts of several targets. */
export function sumCounts(all: readonly StatusCounts[]): StatusCounts {
  const sum = (name: keyof StatusCounts): number => all.reduce((total, counts) => total + counts[name], 0)
  return {
    total_records: sum('total_records'),
    fresh: sum('fresh'),
    stale: sum('stale'),
    missing: sum('missing'),
    failed: sum('failed'),
    overridden: sum('overridden'),
    blocked: sum('blocked'),
  }
}

import type { TargetStatusAnswer } from '../../../src/wire/runs/status.ts'
import { formatCount } from '../ui/format.ts'
import type { FILTER_STATES } from '../ui/state-names.ts'

/** In the order of the bar: the states that need attention are last. */
export const COUNTED_STATES = ['fresh', 'overridden', 'stale', 'missing', 'failed'] as const

export type StatusCounts = Pick<
  TargetStatusAnswer,
  (typeof COUNTED_STATES)[number] | 'blocked' | 'ready' | 'total_records'
>

/** All counts that are not zero: `240 fresh, 2 failed (1 blocked)`. */
export function countsText(counts: StatusCounts): string {
  const parts = COUNTED_STATES.filter((state) => counts[state] > 0).map(
    (state) => `${formatCount(counts[state])} ${state}`,
  )
  const blocked = counts.blocked > 0 ? ` (${formatCount(counts.blocked)} blocked)` : ''
  return `${parts.join(', ')}${blocked}` || 'no records'
}

/** Whether a run has nothing to compute: pending cells are blocked, such as those with an empty input. */
export function isComplete({ ready, missing, total_records: total }: StatusCounts): boolean {
  return ready.stale + ready.failed + ready.missing === 0 && missing < total
}

/** Returns the number of cells that are shown in a state: a pending one that no run can compute is blocked. */
export function shownCount(counts: StatusCounts, state: keyof typeof FILTER_STATES): number {
  switch (state) {
    case 'missing':
    case 'stale':
    case 'failed':
      return counts.ready[state]
    default:
      return counts[state]
  }
}

/** The most important count: `2 failed`, `all fresh`. */
export function headline(counts: StatusCounts): string {
  if (counts.total_records === 0) return 'no records'
  const whole = COUNTED_STATES.find((state) => counts[state] === counts.total_records)
  if (whole !== undefined) return `all ${whole}`
  if (isComplete(counts))
    return counts.overridden === 0 ? 'complete' : `${formatCount(counts.overridden)} overridden`
  const worst = (['failed', 'stale', 'missing', 'overridden'] as const).find(
    (state) => shownCount(counts, state) > 0,
  )
  return worst === undefined ? 'complete' : `${formatCount(shownCount(counts, worst))} ${worst}`
}

/** Adds the counts of several targets. */
export function sumCounts(all: readonly StatusCounts[]): StatusCounts {
  const sum = (name: Exclude<keyof StatusCounts, 'ready'>): number =>
    all.reduce((total, counts) => total + counts[name], 0)
  const ready = (state: keyof StatusCounts['ready']): number =>
    all.reduce((total, counts) => total + counts.ready[state], 0)
  return {
    total_records: sum('total_records'),
    fresh: sum('fresh'),
    stale: sum('stale'),
    missing: sum('missing'),
    failed: sum('failed'),
    overridden: sum('overridden'),
    blocked: sum('blocked'),
    ready: { missing: ready('missing'), stale: ready('stale'), failed: ready('failed') },
  }
}

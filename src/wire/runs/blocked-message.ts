import type { RunPlanAnswer } from './materialize.ts'

const REASONS = [
  ['input_failed', 'an input that failed'],
  ['input_empty', 'an input that is empty'],
  ['input_blocked', 'an input that is blocked itself'],
  ['input_missing', 'an input that this run does not compute'],
] as const

/** A sentence about the cells that a run does not compute because of an input; null when there are none. */
export function blockedWords({ targets }: Pick<RunPlanAnswer, 'targets'>): string | null {
  const counts = REASONS.map(([reason, words]) => {
    const count = Object.values(targets).reduce((sum, { blocked }) => sum + (blocked?.[reason] ?? 0), 0)
    return { count, words }
  }).filter(({ count }) => count > 0)
  if (counts.length === 0) return null
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  const waiting = counts.map(({ count, words }) => `${count} for ${words}`)
  return `${total} ${total === 1 ? 'cell waits' : 'cells wait'}: ${waiting.join(', ')}.`
}

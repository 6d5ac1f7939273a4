import type { RunPlanAnswer } from './materialize.ts'

const REASONS = [
  ['input_failed', 'a failed input'],
  ['input_empty', 'an empty input'],
  ['input_blocked', 'a blocked input'],
  ['input_missing', 'an input that this run does not compute'],
] as const

/** Describes the blocked cells of a plan: `3 cells are blocked: 2 by a failed input, 1 by an empty input.` Null for none. */
export function blockedMessage({ targets }: Pick<RunPlanAnswer, 'targets'>): string | null {
  const counts = REASONS.map(([reason, words]) => {
    const count = Object.values(targets).reduce((sum, { blocked }) => sum + (blocked?.[reason] ?? 0), 0)
    return { count, words }
  }).filter(({ count }) => count > 0)
  if (counts.length === 0) return null
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  const reasons = counts.map(({ count, words }) => `${count.toLocaleString('en')} by ${words}`)
  const cells = total === 1 ? '1 cell is' : `${total.toLocaleString('en')} cells are`
  return `${cells} blocked: ${reasons.join(', ')}.`
}

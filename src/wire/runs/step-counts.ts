import type { RunAnswer } from './runs.ts'

/** Describes the results of the steps of a run's fallbacks, a line each: how many were accepted, and what an accepted value cost, where all costs are known. */
export function stepCountLines(
  { steps = [] }: Pick<RunAnswer, 'steps'>,
  money: (dollars: number) => string,
): readonly string[] {
  return steps.map(({ derivation, step, kind, results, accepted, cost, unpriced_calls: unpriced }) => {
    const share = results === 0 ? 0 : Math.round((100 * accepted) / results)
    const count = (number: number): string => number.toLocaleString('en-US')
    const isKnown = cost > 0 && unpriced === 0
    const each = isKnown && accepted > 0 ? `, ${money(cost / accepted)} per accepted value` : ''
    const calls = `${count(unpriced)} call${unpriced === 1 ? '' : 's'}`
    const spent = `${cost > 0 ? `, ${money(cost)}` : ''}${unpriced > 0 ? `, cost of ${calls} not set` : ''}`
    return `${derivation} step ${step} (${kind}): ${count(accepted)} of ${count(results)} accepted (${share}%)${spent}${each}`
  })
}

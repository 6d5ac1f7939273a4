import type { RunAnswer } from './runs.ts'

/** Describes the results of the steps of a run's fallbacks, a line each: how many were accepted, and what an accepted value cost. */
export function stepCountLines(
  { steps = [] }: Pick<RunAnswer, 'steps'>,
  money: (dollars: number) => string,
): readonly string[] {
  return steps.map(({ derivation, step, kind, results, accepted, cost }) => {
    const share = results === 0 ? 0 : Math.round((100 * accepted) / results)
    const each = cost > 0 && accepted > 0 ? `, ${money(cost / accepted)} per accepted value` : ''
    const spent = cost > 0 ? `, ${money(cost)}` : ''
    const count = (number: number): string => number.toLocaleString('en-US')
    return `${derivation} step ${step} (${kind}): ${count(accepted)} of ${count(results)} accepted (${share}%)${spent}${each}`
  })
}

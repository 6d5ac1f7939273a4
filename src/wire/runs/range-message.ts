import type { RunPlanAnswer } from './materialize.ts'

/** Formats dollars and calls as the surface does elsewhere. */
interface Format {
  money(dollars: number): string
  calls(count: number): string
}

/** Describes the range of calls of a plan with fallbacks; null for one without. */
export function rangeMessage(
  { range, calls }: Pick<RunPlanAnswer, 'range' | 'calls'>,
  { money, calls: count }: Format,
): string | null {
  if (range === undefined || calls === 0) return null
  const text = (of: { readonly calls: number; readonly cost: number }): string =>
    of.cost > 0 ? `${count(of.calls)}, ${money(of.cost)}` : count(of.calls)
  const { least, expected } = range
  if (expected === undefined) return `At least ${text(least)}.`
  const results = expected.results.toLocaleString('en-US')
  return `At least ${text(least)}; about ${text(expected)} by ${results} results of fallbacks so far.`
}

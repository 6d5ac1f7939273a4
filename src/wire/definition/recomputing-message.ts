import { estimateBasis } from '../runs/estimate-basis.ts'
import { rangeMessage } from '../runs/range-message.ts'
import type { DefinitionChangeAnswer } from './change.ts'

/** Formats dollars and calls as the surface does elsewhere. */
interface Format {
  money(dollars: number): string
  calls(count: number): string
}

/** Describes what it takes to compute the cells that a change makes stale or missing, in sentences; empty where there are none. */
export function recomputingMessage(
  plan: DefinitionChangeAnswer['recomputing'],
  { money, calls: count }: Format,
): string {
  if (plan === undefined) return ''
  if (plan === null) return 'How many calls it takes to compute them, and what they cost, is not known.'
  const { targets, calls, cost, unpriced_calls: unpriced = 0, at_most: isMost = false, estimate } = plan
  const names = Object.keys(targets)
  if (names.length === 0) return ''
  if (calls === 0) return `Computing ${names.join(', ')} makes no calls.`
  const price =
    unpriced === 0
      ? money(cost)
      : unpriced >= calls
        ? 'cost not set'
        : `${money(cost)} and ${count(unpriced)} whose cost is not set`
  const range = rangeMessage(plan, { money, calls: count })
  return [
    `Computing ${names.join(', ')} takes ${isMost ? 'at most ' : ''}${count(calls)}: ${price}.`,
    ...(range === null ? [] : [range]),
    ...(estimate === undefined
      ? []
      : [
          `About ${money(estimate.cost)}, estimated from ${estimateBasis(estimate.results ?? 0, estimate.basis !== 'results')}.`,
        ]),
  ].join(' ')
}

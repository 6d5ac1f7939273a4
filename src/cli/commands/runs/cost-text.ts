import { callsText, dollars } from '../../terminal/progress-line.ts'

/** Returns the cost of calls as text: `cost not set` where `transport.yaml` has no cost, empty where there are no calls. */
export function costText(
  calls: number,
  { cost, unpricedCalls }: { readonly cost: number; readonly unpricedCalls: number },
): string {
  if (calls === 0) return ''
  if (unpricedCalls === 0) return dollars(cost)
  if (unpricedCalls >= calls) return 'cost not set'
  return `${dollars(cost)} and ${callsText(unpricedCalls)} whose cost is not set`
}

import { callsText, dollars } from './progress-line.ts'

/** What calls cost, in words; `cost not set` where `transport.yaml` does not say it. Empty without calls. */
export function costText(
  calls: number,
  { cost, unpricedCalls }: { readonly cost: number; readonly unpricedCalls: number },
): string {
  if (calls === 0) return ''
  if (unpricedCalls === 0) return dollars(cost)
  if (unpricedCalls >= calls) return 'cost not set'
  return `${dollars(cost)} and ${callsText(unpricedCalls)} whose cost is not set`
}

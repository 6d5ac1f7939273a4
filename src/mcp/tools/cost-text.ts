import { countText } from './count-text.ts'

/** Returns the cost of calls as text; `cost not set` if `transport.yaml` does not have it. */
export function costText(
  calls: number,
  { cost, unpriced = 0 }: { readonly cost: number; readonly unpriced?: number | undefined },
): string {
  if (unpriced === 0) return `$${cost}`
  return unpriced >= calls
    ? 'cost not set'
    : `$${cost} and ${countText(unpriced, 'call')} whose cost is not set`
}

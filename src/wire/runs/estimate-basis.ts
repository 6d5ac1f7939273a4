/** Returns what the estimate of a plan is made from, as text such as `240 results`. */
export function estimateBasis(results: number, fromBytes: boolean): string {
  const counted = `${results.toLocaleString('en-US')} results`
  if (results === 0) return 'the length of the prompts'
  return fromBytes ? `${counted} and the length of the prompts` : counted
}

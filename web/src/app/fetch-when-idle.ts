/**
 * Fetches parts of the page that are not needed yet, as soon as there is nothing else to do: then they are there at once
 * when they are wanted, also when the server has gone away.
 */
export function fetchWhenIdle(parts: readonly (() => Promise<unknown>)[]): void {
  const fetchAll = (): void => {
    for (const part of parts) fetchPart(part)
  }
  // Safari has learnt it late.
  if ('requestIdleCallback' in globalThis) requestIdleCallback(fetchAll, { timeout: LATEST_MS })
  else setTimeout(fetchAll, LATEST_MS)
}

const LATEST_MS = 3000

/** What cannot be had now may be had later, or else when it is wanted. */
function fetchPart(part: () => Promise<unknown>, againMs = LATEST_MS): void {
  part().catch(() => setTimeout(fetchPart, againMs, part, 2 * againMs))
}

/**
 * Fetches chunks of the page in idle time, so that they load without delay, and even if the server becomes
 * unreachable.
 */
export function fetchWhenIdle(parts: readonly (() => Promise<unknown>)[]): void {
  const fetchAll = (): void => {
    for (const part of parts) fetchPart(part)
  }
  // Older versions of Safari do not have requestIdleCallback.
  if ('requestIdleCallback' in globalThis) requestIdleCallback(fetchAll, { timeout: LATEST_MS })
  else setTimeout(fetchAll, LATEST_MS)
}

const LATEST_MS = 3000

/** Retries until the chunk is loaded. */
function fetchPart(part: () => Promise<unknown>, againMs = LATEST_MS): void {
  part().catch(() => setTimeout(fetchPart, againMs, part, 2 * againMs))
}

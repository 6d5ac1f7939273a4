const AGAIN_MS = 500

/**
 * Reads a stream to its end, from the start again for as long as that fails: the client connects again by itself, but
 * takes a first connection that does not come about for a fault of whoever asked.
 */
export async function keepFollowing(
  signal: AbortSignal,
  read: () => Promise<void>,
  onFailed: () => void = () => undefined,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await read()
      return
    } catch {
      if (signal.aborted) return
      onFailed()
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  }
}

const REFETCH_MS = 500

/**
 * Reads a stream until it ends. Retries the first connection, which the client does not: it reconnects only after a
 * success.
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
      await new Promise((resolve) => setTimeout(resolve, REFETCH_MS))
    }
  }
}

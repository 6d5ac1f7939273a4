import type { RunEvent } from '../../../src/client/client.ts'
import { server } from '../api/server.ts'
import { keepFollowing } from '../live/keep-following.ts'

/**
 * Listens to a run until it ends. Browsers allow few connections to a host, so one tab holds the stream and tells the
 * others; when it is closed, another takes over. `onReconnect`: something may have been missed.
 */
export function watchRun(
  id: string,
  onEvent: (event: RunEvent) => void,
  onReconnect: () => void,
): () => void {
  const name = `colophon.run.${id}`
  const stop = new AbortController()
  const channel = new BroadcastChannel(name)
  const end = (): void => {
    stop.abort()
    channel.close()
  }
  const take = (event: RunEvent): void => {
    if (stop.signal.aborted) return
    onEvent(event)
    if (event.kind === 'run.end') end()
  }
  channel.addEventListener('message', ({ data }) => take(data as RunEvent))
  const read = async (): Promise<void> => {
    for await (const event of server.runs.events(id, { signal: stop.signal, onReconnect })) {
      channel.postMessage(event)
      take(event)
    }
  }
  const lead = (): Promise<void> => keepFollowing(stop.signal, read)
  // Browsers offer locks to pages from this machine and over https only: elsewhere each tab listens for itself.
  if ('locks' in navigator) {
    navigator.locks.request(name, { signal: stop.signal }, lead).catch(() => undefined)
  } else {
    void lead()
  }
  return end
}

import type { RunEvent } from '../../../../src/client/client.ts'
import { server } from '../../api/server.ts'
import { keepFollowing } from '../../live/keep-following.ts'

/** What the tab that holds the stream tells the others when something may have been missed. */
const MISSED = 'missed'

/**
 * Listens to a run until it ends. Browsers allow few connections to a host, so one tab holds the stream and tells the
 * others; when it is closed, another takes over. `onMissed`: there may have been events that nobody was told of.
 */
export function watchRun(id: string, onEvent: (event: RunEvent) => void, onMissed: () => void): () => void {
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
  /** Whether something may have been told while nobody listened. */
  let isBehind = false
  channel.addEventListener('message', ({ data }) => {
    // Another tab listens; when it is this one's turn, that one does no more.
    isBehind = true
    if (data === MISSED) onMissed()
    else take(data as RunEvent)
  })
  const missed = (): void => {
    isBehind = false
    if (stop.signal.aborted) return
    channel.postMessage(MISSED)
    onMissed()
  }
  const read = async (): Promise<void> => {
    for await (const event of server.runs.events(id, { signal: stop.signal, onReconnect: missed })) {
      if (isBehind) missed()
      channel.postMessage(event)
      take(event)
    }
  }
  const fallBehind = (): void => {
    isBehind = true
  }
  const lead = (): Promise<void> => keepFollowing(stop.signal, read, fallBehind)
  // Browsers offer locks to pages from this machine and over https only: elsewhere each tab listens for itself.
  if ('locks' in navigator) {
    navigator.locks.request(name, { signal: stop.signal }, lead).catch(() => undefined)
  } else {
    void lead()
  }
  return end
}

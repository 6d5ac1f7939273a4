import type { RunEvent } from '../../../../src/client/client.ts'
import { server } from '../../api/server.ts'
import { keepFollowing } from '../../live/keep-following.ts'

/** The message that events may have been missed. */
const MISSED = 'missed'

/**
 * Follows a run until it ends. Browsers limit connections per host, so one tab holds the stream and broadcasts to the
 * others; when it is closed, another takes over. Calls `onMissed` if events may have been missed.
 */
export function watchRun(id: string, onEvent: (event: RunEvent) => void, onMissed: () => void): () => void {
  const name = `colophon.run.${id}`
  const stop = new AbortController()
  const channel = new BroadcastChannel(name)
  const end = (): void => {
    stop.abort()
    channel.close()
  }
  const handle = (event: RunEvent): void => {
    if (stop.signal.aborted) return
    onEvent(event)
    if (event.kind === 'run.end') end()
  }
  /** Whether events may have been missed. */
  let isBehind = false
  channel.addEventListener('message', ({ data }) => {
    // Another tab holds the stream; if this tab takes over, it has missed the events in between.
    isBehind = true
    if (data === MISSED) onMissed()
    else handle(data as RunEvent)
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
      handle(event)
    }
  }
  const fallBehind = (): void => {
    isBehind = true
  }
  const lead = (): Promise<void> => keepFollowing(stop.signal, read, fallBehind)
  // Locks need a secure context; without them, each tab has its own stream.
  if ('locks' in navigator) {
    navigator.locks.request(name, { signal: stop.signal }, lead).catch(() => undefined)
  } else {
    void lead()
  }
  return end
}

import type { SheetFrame } from '../../../src/wire/changes.ts'

const NAME = 'colophon.live'
const RECONNECT_MS = 2000
/** What a tab that has just been opened asks the others. */
const WHAT_IS_IT = 'what is it?'

/**
 * Listens to what changes in the sheet. Browsers allow few connections to a host, so one tab holds the stream and tells
 * the others; when it is closed, another takes over.
 */
export function listenToChanges(onState: (state: SheetFrame) => void): () => void {
  const stop = new AbortController()
  const channel = new BroadcastChannel(NAME)
  let last: SheetFrame | null = null
  channel.addEventListener('message', ({ data }) => {
    if (data !== WHAT_IS_IT) onState(data as SheetFrame)
    else if (last !== null) channel.postMessage(last)
  })
  // Until it knows what there was, a tab cannot tell what has changed.
  channel.postMessage(WHAT_IS_IT)
  const lead = (): Promise<void> =>
    new Promise((resolve) => {
      stop.signal.addEventListener('abort', () => resolve())
      follow(stop.signal, (state) => {
        last = state
        onState(state)
        channel.postMessage(state)
      })
    })
  // Over plain HTTP under another name than localhost there are no locks: then each tab has a stream of its own.
  if (isSecureContext) navigator.locks.request(NAME, { signal: stop.signal }, lead).catch(() => undefined)
  else void lead()
  return () => {
    stop.abort()
    channel.close()
  }
}

function follow(signal: AbortSignal, onState: (state: SheetFrame) => void): void {
  let source: EventSource | null = null
  const open = (): void => {
    if (signal.aborted) return
    source = new EventSource('/api/sheet/events')
    source.addEventListener('sheet', ({ data }) => onState(JSON.parse(String(data)) as SheetFrame))
    source.addEventListener('error', () => {
      // Browsers try again by themselves, but not after an answer that is none.
      if (source?.readyState !== EventSource.CLOSED) return
      setTimeout(open, RECONNECT_MS)
    })
  }
  signal.addEventListener('abort', () => source?.close())
  open()
}

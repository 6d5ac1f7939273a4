import type { Static } from 'typebox'
import type { RunCellsFrame, RunProgressFrame, RunSummary } from '../../../src/wire/runs.ts'

export type RunCells = Static<typeof RunCellsFrame>

/** What the stream of a run tells. */
export type RunEvent =
  | { readonly kind: 'run.progress'; readonly data: Static<typeof RunProgressFrame> }
  | { readonly kind: 'run.cells'; readonly data: RunCells }
  /** Nothing follows. */
  | { readonly kind: 'run.end'; readonly data: RunSummary }

const KINDS = ['run.progress', 'run.cells', 'run.end'] as const
const RECONNECT_MS = 2000

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
  const lead = (): Promise<void> =>
    new Promise((resolve) => {
      stop.signal.addEventListener('abort', () => resolve())
      const tell = (event: RunEvent): void => {
        channel.postMessage(event)
        take(event)
      }
      follow(id, stop.signal, tell, onReconnect)
    })
  // Browsers offer locks to pages from this machine and over https only: elsewhere each tab listens for itself.
  if ('locks' in navigator) {
    navigator.locks.request(name, { signal: stop.signal }, lead).catch(() => undefined)
  } else {
    void lead()
  }
  return end
}

function follow(
  id: string,
  signal: AbortSignal,
  tell: (event: RunEvent) => void,
  onReconnect: () => void,
): void {
  let source: EventSource | null = null
  let isLost = false
  const open = (): void => {
    if (signal.aborted) return
    source = new EventSource(`/api/runs/${id}/events`)
    for (const kind of KINDS) {
      source.addEventListener(kind, ({ data }) => tell({ kind, data: JSON.parse(String(data)) }))
    }
    source.addEventListener('open', () => {
      if (isLost) onReconnect()
      isLost = false
    })
    source.addEventListener('error', () => {
      isLost = true
      // Browsers try again by themselves, but not after an answer that is none.
      if (source?.readyState === EventSource.CLOSED) setTimeout(open, RECONNECT_MS)
    })
  }
  signal.addEventListener('abort', () => source?.close())
  open()
}

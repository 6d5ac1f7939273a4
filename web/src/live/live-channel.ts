import type { SheetFrame } from '../../../src/wire/service/sheet-frame.ts'
import { server } from '../api/server.ts'
import { keepFollowing } from './keep-following.ts'

const NAME = 'colophon.live'
/** What a tab that has just been opened asks the others. */
const WHAT_IS_IT = 'what is it?'

/** What is known of the sheet. */
export interface LiveState {
  /** How it stood when it was last heard of; null before that. */
  readonly sheet: SheetFrame | null
  /** Whether nothing is heard of it: the connection is gone, and a new one has not come about yet. */
  readonly isLost: boolean
}

/**
 * Listens to what changes in the sheet. Browsers allow few connections to a host, so one tab holds the stream and tells
 * the others; when it is closed, another takes over.
 */
export function listenToChanges(onState: (state: LiveState) => void): () => void {
  const stop = new AbortController()
  const channel = new BroadcastChannel(NAME)
  let mine: LiveState | null = null
  channel.addEventListener('message', ({ data }) => {
    if (data !== WHAT_IS_IT) onState(data as LiveState)
    else if (mine !== null) channel.postMessage(mine)
  })
  // Until it knows what there was, a tab cannot tell what has changed.
  channel.postMessage(WHAT_IS_IT)
  const lead = (): Promise<void> =>
    follow(stop.signal, (state) => {
      mine = state
      onState(state)
      channel.postMessage(state)
    })
  // Over plain HTTP under another name than localhost there are no locks: then each tab has a stream of its own.
  if (isSecureContext) navigator.locks.request(NAME, { signal: stop.signal }, lead).catch(() => undefined)
  else void lead()
  return () => {
    stop.abort()
    channel.close()
  }
}

/** Follows the sheet until the signal aborts, whatever becomes of the server. */
function follow(signal: AbortSignal, onState: (state: LiveState) => void): Promise<void> {
  let sheet: SheetFrame | null = null
  const onLost = (): void => onState({ sheet, isLost: true })
  const read = async (): Promise<void> => {
    for await (sheet of server.changes({ signal, onLost })) onState({ sheet, isLost: false })
  }
  return keepFollowing(signal, read, onLost)
}

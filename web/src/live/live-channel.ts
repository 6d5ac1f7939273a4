import type { SheetFrame } from '../../../src/wire/service/sheet-frame.ts'
import { server } from '../api/server.ts'
import { keepFollowing } from './keep-following.ts'

const NAME = 'colophon.live'
/** The message with which a new tab asks for the state. */
const REQUEST_STATE = 'request state'

/** The latest state that was received. */
export interface LiveState {
  /** The latest frame of the sheet; null before the first. */
  readonly sheet: SheetFrame | null
  /** Whether the connection is lost. */
  readonly isLost: boolean
}

/**
 * Subscribes to changes of the sheet. Browsers limit connections per host, so one tab holds the stream and broadcasts
 * to the others; when it is closed, another takes over.
 */
export function listenToChanges(onState: (state: LiveState) => void): () => void {
  const stop = new AbortController()
  const channel = new BroadcastChannel(NAME)
  let mine: LiveState | null = null
  channel.addEventListener('message', ({ data }) => {
    if (data !== REQUEST_STATE) onState(data as LiveState)
    else if (mine !== null) channel.postMessage(mine)
  })
  // A tab compares changes with the state before, so it needs that first.
  channel.postMessage(REQUEST_STATE)
  const lead = (): Promise<void> =>
    follow(stop.signal, (state) => {
      mine = state
      onState(state)
      channel.postMessage(state)
    })
  // Locks need a secure context; without them, each tab has its own stream.
  if (isSecureContext) navigator.locks.request(NAME, { signal: stop.signal }, lead).catch(() => undefined)
  else void lead()
  return () => {
    stop.abort()
    channel.close()
  }
}

/** Follows the sheet until the signal aborts, also across server restarts. */
function follow(signal: AbortSignal, onState: (state: LiveState) => void): Promise<void> {
  let sheet: SheetFrame | null = null
  const onLost = (): void => onState({ sheet, isLost: true })
  const read = async (): Promise<void> => {
    for await (sheet of server.changes({ signal, onLost })) onState({ sheet, isLost: false })
  }
  return keepFollowing(signal, read, onLost)
}

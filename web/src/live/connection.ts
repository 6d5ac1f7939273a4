import { useSyncExternalStore } from 'react'

let isLost = false
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Records whether the server is unreachable. */
export function setLost(lost: boolean): void {
  if (lost === isLost) return
  isLost = lost
  for (const listener of listeners) listener()
}

/** Whether the server is unreachable: the data shown may be outdated, and nothing can be saved. */
export function useIsLost(): boolean {
  return useSyncExternalStore(subscribe, () => isLost)
}

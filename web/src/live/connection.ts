import { useSyncExternalStore } from 'react'

let isLost = false
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Notes whether anything is heard of the server. */
export function setLost(lost: boolean): void {
  if (lost === isLost) return
  isLost = lost
  for (const listener of listeners) listener()
}

/** Whether nothing is heard of the server: what is shown may then be out of date, and nothing can be saved. */
export function useIsLost(): boolean {
  return useSyncExternalStore(subscribe, () => isLost)
}

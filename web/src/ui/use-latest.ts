import { useLayoutEffect, useRef } from 'react'

/** Always what it was when last drawn, for listeners and components that are not to be drawn again because of it. */
export function useLatest<T>(value: T): { readonly current: T } {
  const latest = useRef(value)
  useLayoutEffect(() => {
    latest.current = value
  })
  return latest
}

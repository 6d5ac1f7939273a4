import { useLayoutEffect, useRef } from 'react'

/** Returns a ref to the value of the last render, for callbacks that must not cause renders. */
export function useLatest<T>(value: T): { readonly current: T } {
  const latest = useRef(value)
  useLayoutEffect(() => {
    latest.current = value
  })
  return latest
}

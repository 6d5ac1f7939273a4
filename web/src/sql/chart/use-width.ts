import { useEffect, useRef, useState, type RefObject } from 'react'

/** Returns the width of an element in CSS pixels, updated by a ResizeObserver; 0 before the first measurement. */
export function useWidth<T extends HTMLElement>(): readonly [ref: RefObject<T | null>, width: number] {
  const ref = useRef<T>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (ref.current === null) return
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)))
    observer.observe(ref.current)
    return () => observer.disconnect()
  }, [])
  return [ref, width]
}

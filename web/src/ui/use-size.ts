import { useEffect, useRef, useState, type RefObject } from 'react'

interface Size {
  readonly width: number
  readonly height: number
}

/**
 * Returns the size of an element in CSS pixels with scroll bars, updated by a ResizeObserver; 0 before the first
 * measurement.
 */
export function useSize<T extends HTMLElement>(): readonly [ref: RefObject<T | null>, size: Size] {
  const ref = useRef<T>(null)
  const [size, setSize] = useState<Size>({ width: 0, height: 0 })
  useEffect(() => {
    if (ref.current === null) return
    const observer = new ResizeObserver(([entry]) => {
      if (entry === undefined) return
      // Includes the scroll bars, which appear and disappear with the scale.
      const { offsetWidth, offsetHeight } = entry.target as HTMLElement
      setSize({ width: offsetWidth, height: offsetHeight })
    })
    observer.observe(ref.current)
    return () => observer.disconnect()
  }, [])
  return [ref, size]
}

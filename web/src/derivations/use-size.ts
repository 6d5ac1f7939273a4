import { useEffect, useRef, useState, type RefObject } from 'react'

interface Size {
  readonly width: number
  readonly height: number
}

/** The inner size of an element in CSS pixels, kept up to date; 0 until it is known. */
export function useSize<T extends HTMLElement>(): readonly [ref: RefObject<T | null>, size: Size] {
  const ref = useRef<T>(null)
  const [size, setSize] = useState<Size>({ width: 0, height: 0 })
  useEffect(() => {
    if (ref.current === null) return
    const observer = new ResizeObserver(([entry]) => {
      if (entry === undefined) return
      // With what a scroll bar takes, which comes and goes with the scale.
      const { offsetWidth, offsetHeight } = entry.target as HTMLElement
      setSize({ width: offsetWidth, height: offsetHeight })
    })
    observer.observe(ref.current)
    return () => observer.disconnect()
  }, [])
  return [ref, size]
}

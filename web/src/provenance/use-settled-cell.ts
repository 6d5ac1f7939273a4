import { useEffect, useRef, useState } from 'react'
import type { CellRef } from '../state/view-state.ts'

const PACE_MS = 120
const MIN_REQUEST_MS = 200

/** Returns the selected cell, throttled while an arrow key is held down. */
export function useThrottledCell({ recordId, field }: CellRef): CellRef {
  const [paced, setPaced] = useState<CellRef>({ recordId, field })
  const lastAt = useRef(0)
  useEffect(() => {
    const update = (): void => {
      lastAt.current = performance.now()
      setPaced((before) => (isSame(before, { recordId, field }) ? before : { recordId, field }))
    }
    const wait = lastAt.current + PACE_MS - performance.now()
    if (wait <= 0) {
      update()
      return
    }
    const timer = setTimeout(update, wait)
    return () => clearTimeout(timer)
  }, [recordId, field])
  return paced
}

/**
 * Returns the wanted cell once its data is loaded or a short time has passed, and the previous one until then, to
 * avoid flicker.
 */
export function useSettledCell(wanted: CellRef, isComplete: boolean): CellRef {
  const [shown, setShown] = useState(wanted)
  const isShown = isSame(shown, wanted)
  if (!isShown && isComplete) setShown(wanted)
  useEffect(() => {
    if (isShown || isComplete) return
    const timer = setTimeout(() => setShown(wanted), MIN_REQUEST_MS)
    return () => clearTimeout(timer)
  }, [isShown, isComplete, wanted])
  return isComplete ? wanted : shown
}

function isSame(a: CellRef, b: CellRef): boolean {
  return a.recordId === b.recordId && a.field === b.field
}

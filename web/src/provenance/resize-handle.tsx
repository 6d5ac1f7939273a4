import { useState, type KeyboardEvent, type PointerEvent } from 'react'
import { DEFAULT_WIDTH, GREATEST_WIDTH, MIN_WIDTH } from './panel-width.ts'

interface ResizeHandleProps {
  readonly width: number
  readonly onResize: (width: number) => void
}

const STEP = 16

/** The left edge of the panel: resizes by dragging or arrow keys; a double click resets the width. */
export function ResizeHandle({ width, onResize }: ResizeHandleProps) {
  /** The right edge of the panel during a drag. */
  const [right, setRight] = useState<number | null>(null)
  const start = (event: PointerEvent<HTMLDivElement>): void => {
    if (event.button !== 0) return
    event.currentTarget.setPointerCapture(event.pointerId)
    setRight(event.clientX + width)
  }
  const move = (event: PointerEvent<HTMLDivElement>): void => {
    if (right !== null) onResize(right - event.clientX)
  }
  const onKey = (event: KeyboardEvent): void => {
    const wanted = widthByKey(event.key, width)
    if (wanted === null) return
    event.preventDefault()
    event.stopPropagation()
    onResize(wanted)
  }
  return (
    <div
      className={right === null ? 'panel-resize' : 'panel-resize dragging'}
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the panel"
      aria-valuenow={width}
      aria-valuemin={MIN_WIDTH}
      aria-valuemax={GREATEST_WIDTH}
      tabIndex={0}
      onPointerDown={start}
      onPointerMove={move}
      onPointerUp={() => setRight(null)}
      onPointerCancel={() => setRight(null)}
      onDoubleClick={() => onResize(DEFAULT_WIDTH)}
      onKeyDown={onKey}
    />
  )
}

/** The panel is at the right, so it grows to the left. */
function widthByKey(key: string, width: number): number | null {
  switch (key) {
    case 'ArrowLeft':
      return width + STEP
    case 'ArrowRight':
      return width - STEP
    case 'Home':
      return MIN_WIDTH
    case 'End':
      return GREATEST_WIDTH
    default:
      return null
  }
}

import { useLayoutEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import type { Part } from './summary-chart.ts'

interface SummaryTipProps {
  readonly part: Part
  /** The id of the described element. */
  readonly anchor: string
}

const GAP = 6
const MARGIN = 8
const WIDTH = 240

/** The tooltip of a part, below the chart. */
export function SummaryTip({ part, anchor }: SummaryTipProps) {
  const [place, setPlace] = useState<{ readonly left: number; readonly top: number } | null>(null)
  useLayoutEffect(() => {
    const element = document.getElementById(anchor)
    const box = element?.getBoundingClientRect()
    const chart = element?.closest('[data-summary]')?.getBoundingClientRect()
    if (box === undefined || chart === undefined) return
    const middle = (Math.max(0, box.left) + Math.min(innerWidth, box.right)) / 2
    const half = Math.min(WIDTH, innerWidth - 2 * MARGIN) / 2
    const left = Math.max(MARGIN + half, Math.min(middle, innerWidth - MARGIN - half))
    setPlace({ left, top: chart.bottom + GAP })
  }, [anchor, part])
  if (place === null) return null
  return createPortal(
    // Hidden from screen readers, because the part has the same text.
    <div className="summary-tip" style={place} aria-hidden="true">
      <strong>{part.label}</strong>
      <span>{part.note}</span>
      {part.condition !== null && <span className="summary-tip-hint">Click to filter</span>}
    </div>,
    document.body,
  )
}

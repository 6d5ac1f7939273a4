import { useId, useRef, useState, type KeyboardEvent } from 'react'
import type { Condition } from '../state/conditions.ts'
import type { Part, SummaryChart } from './summary-chart.ts'
import { SummaryTip } from './summary-tip.tsx'

interface SummaryChartViewProps {
  readonly chart: SummaryChart
  /** Whether the chart is being reloaded. */
  readonly isWaiting: boolean
  readonly onFilter: (condition: Condition) => void
}

/**
 * The chart: a click on a part adds a filter. With the focus, arrow keys select parts, and Escape returns to the grid.
 */
export function SummaryChartView({ chart, isWaiting, onFilter }: SummaryChartViewProps) {
  const { kind, parts, empty, left, right, name } = chart
  const [active, setActive] = useState<number | null>(null)
  const root = useRef<HTMLDivElement>(null)
  const id = useId()
  // Empty values come last if they are not among the parts.
  const all = empty === null ? parts : [...parts, empty]
  const shown = active === null ? undefined : all[active]

  const onKeyDown = (event: KeyboardEvent): void => {
    const next = placeAfter(event.key, active ?? -1, all.length)
    if (next !== null) setActive(next)
    else if (event.key === 'Enter' || event.key === ' ') {
      if (shown?.condition) onFilter(shown.condition)
    } else if (event.key === 'Escape') root.current?.closest<HTMLElement>('[role=grid]')?.focus()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const option = (part: Part, index: number) => (
    <div
      key={part.key}
      id={`${id}-${index}`}
      role="option"
      aria-selected={index === active}
      aria-disabled={part.condition === null}
      aria-label={`${part.label}: ${part.note}`}
      className={index === active ? 'summary-part active' : 'summary-part'}
      style={kind === 'segments' ? { flexGrow: part.size } : undefined}
      data-look={part.look}
      onPointerEnter={() => setActive(index)}
      onClick={() => part.condition && onFilter(part.condition)}
    >
      {kind === 'segments' && <span style={{ opacity: part.look === 'value' ? shadeOf(index) : 1 }} />}
    </div>
  )
  return (
    <div
      ref={root}
      className={isWaiting ? 'column-summary waiting' : 'column-summary'}
      role={all.length > 0 ? 'listbox' : 'img'}
      aria-orientation={all.length > 0 ? 'horizontal' : undefined}
      aria-label={name}
      aria-busy={isWaiting}
      aria-activedescendant={shown === undefined ? undefined : `${id}-${active}`}
      // Overrides the title of the head, which would cover the tooltip.
      title=""
      tabIndex={-1}
      data-summary
      onKeyDown={onKeyDown}
      onFocus={() => setActive((now) => now ?? (all.length > 0 ? 0 : null))}
      onBlur={() => setActive(null)}
      onPointerLeave={() => setActive(null)}
    >
      <div className={`summary-drawing ${kind}`} role="none">
        {kind === 'bars' && <Bars parts={parts} active={active} />}
        <div className="summary-parts" role="none">
          {parts.map(option)}
        </div>
      </div>
      {empty !== null && (
        <div className="summary-empty" role="none">
          <div role="none" style={{ width: `${empty.size * 100}%` }}>
            {option(empty, parts.length)}
          </div>
        </div>
      )}
      <div className="summary-caption" aria-hidden="true">
        <span>{left}</span>
        <span>{right}</span>
      </div>
      {shown !== undefined && <SummaryTip part={shown} anchor={`${id}-${active}`} />}
    </div>
  )
}

const HEIGHT = 18
/** The minimum size in percent, which keeps a single value visible. */
const LEAST = 1.5

function Bars({ parts, active }: { readonly parts: readonly Part[]; readonly active: number | null }) {
  return (
    <svg viewBox={`0 0 ${parts.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {parts.map(({ key, size }, index) => {
        const height = size === 0 ? 0 : Math.max(LEAST, size * HEIGHT)
        return (
          <rect
            key={key}
            x={index + 0.06}
            width={0.88}
            y={HEIGHT - height}
            height={height}
            className={index === active ? 'active' : undefined}
          />
        )
      })}
    </svg>
  )
}

/** The most frequent value is the darkest. */
function shadeOf(index: number): number {
  return Math.max(0.3, 1 - index * 0.14)
}

function placeAfter(key: string, place: number, count: number): number | null {
  if (count === 0) return null
  switch (key) {
    case 'ArrowLeft':
      return Math.max(0, place - 1)
    case 'ArrowRight':
      return Math.min(count - 1, place + 1)
    case 'Home':
      return 0
    case 'End':
      return count - 1
    default:
      return null
  }
}

import { formatCount } from '../ui/format.ts'
import { summaryChartOf } from '../summary/summary-chart.ts'
import type { CountedSummary } from '../summary/use-summary.ts'
import { HUES, type Choosing } from './choosing.ts'
import { isOpen, toggleGroup } from './group-conditions.ts'
import type { SplitValue } from './group-rows.ts'
import { histogramParts, type BarPart } from './histogram-parts.ts'

interface HistogramViewProps extends Choosing {
  readonly counted: CountedSummary
  /** The values of the second field; empty without one. */
  readonly splits: readonly SplitValue[]
}

/** The distribution of numbers: a press on a range limits the records to it. */
export function HistogramView({ by, counted, splits, conditions, onFilter }: HistogramViewProps) {
  const chart = summaryChartOf(by, counted)
  const { histogram } = counted.summary
  if (histogram === undefined || chart === null || chart.kind !== 'bars') return null
  const bars = histogramParts(histogram, splits)
  return (
    <figure className="groups-figure">
      <div className="groups-histogram" role="group" aria-label={chart.name}>
        {chart.parts.map(({ key, label, note, size, condition }, index) => {
          const parts = bars[index] ?? []
          const text = splits.length === 0 ? note : [note, ...parts.map(partText)].join(', ')
          return (
            <button
              key={key}
              type="button"
              disabled={condition === null}
              aria-pressed={condition !== null && isOpen(conditions, condition)}
              aria-label={`${label}: ${text}`}
              title={`${label}\n${splits.length === 0 ? note : [note, ...parts.map(partText)].join('\n')}`}
              onClick={() => condition !== null && onFilter(toggleGroup(conditions, condition))}
            >
              <span
                className="groups-column"
                style={{ height: `${size === 0 ? 0 : Math.max(1.5, size * 100)}%` }}
              >
                {parts.map(({ place, count }) => (
                  <span
                    key={place ?? 'rest'}
                    className={place === null && splits.length > 0 ? 'rest' : undefined}
                    data-hue={place === null ? undefined : place % HUES}
                    style={{ flexGrow: count }}
                  />
                ))}
              </span>
            </button>
          )
        })}
      </div>
      <figcaption>
        <span>{chart.left}</span>
        <span>{chart.right}</span>
      </figcaption>
    </figure>
  )
}

function partText({ label, count }: BarPart): string {
  return `${label} ${formatCount(count)}`
}

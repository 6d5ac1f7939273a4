import type { RecordFilter } from '../api/record-filter.ts'
import { summaryChartOf } from '../summary/summary-chart.ts'
import { useSummary } from '../summary/use-summary.ts'
import type { Choosing } from './choosing.ts'
import { isOpen, toggleGroup } from './group-conditions.ts'

interface HistogramViewProps extends Choosing {
  readonly filter: RecordFilter | null
}

/** The distribution of numbers: a press on a range limits the records to it. */
export function HistogramView({ by, filter, conditions, onFilter }: HistogramViewProps) {
  const { data } = useSummary(by.name, filter, true)
  const chart = data === null ? null : summaryChartOf(by, data)
  if (chart === null || chart.kind !== 'bars') return null
  return (
    <figure className="groups-figure">
      <div className="groups-histogram" role="group" aria-label={chart.name}>
        {chart.parts.map(({ key, label, note, size, condition }) => (
          <button
            key={key}
            type="button"
            disabled={condition === null}
            aria-pressed={condition !== null && isOpen(conditions, condition)}
            aria-label={`${label}: ${note}`}
            title={`${label}\n${note}`}
            onClick={() => condition !== null && onFilter(toggleGroup(conditions, condition))}
          >
            <span style={{ height: `${size === 0 ? 0 : Math.max(1.5, size * 100)}%` }} />
          </button>
        ))}
      </div>
      <figcaption>
        <span>{chart.left}</span>
        <span>{chart.right}</span>
      </figcaption>
    </figure>
  )
}

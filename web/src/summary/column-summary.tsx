import { RotateCw } from 'lucide-react'
import { useEffect, useState } from 'react'
import { ApiError, messageOf } from '../api/api-error.ts'
import type { SheetField } from '../api/contract.ts'
import type { RecordFilter } from '../api/record-filter.ts'
import type { Condition } from '../state/conditions.ts'
import './column-summary.css'
import { summaryChartOf } from './summary-chart.ts'
import { SummaryChartView } from './summary-chart-view.tsx'
import { useSummary } from './use-summary.ts'

/** The time that a column must be visible before its summary is requested. */
const STAYS_MS = 150

interface ColumnSummaryProps {
  readonly field: SheetField
  /** The filter of the summarized records; null for all. */
  readonly filter: RecordFilter | null
  readonly onFilter: (condition: Condition) => void
  /** Only visible columns request summaries. */
  readonly visible: boolean
}

/** The summary of a column as a small chart; empty until loaded. */
export function ColumnSummary({ field, filter, onFilter, visible }: ColumnSummaryProps) {
  const { data, error, isWaiting, retry } = useSummary(field.name, filter, useHasStayed() && visible)
  if (error !== null) {
    return (
      <button
        type="button"
        tabIndex={-1}
        className="column-summary failed"
        title={`${messageOf(error)}\nClick to try again.`}
        aria-label={`${field.title} cannot be summarized. Try again`}
        onClick={retry}
      >
        <RotateCw size={12} /> {isTooSlow(error) ? 'takes too long' : 'no summary'}
      </button>
    )
  }
  const chart = data === null ? null : summaryChartOf(field, data)
  if (chart === null) return <div className="column-summary" />
  return <SummaryChartView chart={chart} isWaiting={isWaiting} onFilter={onFilter} />
}

function useHasStayed(): boolean {
  const [hasStayed, setHasStayed] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setHasStayed(true), STAYS_MS)
    return () => clearTimeout(timer)
  }, [])
  return hasStayed
}

/** Whether the server stopped the query at its deadline (D19). */
function isTooSlow(error: Error): boolean {
  return error instanceof ApiError && error.code === 'query_timeout'
}

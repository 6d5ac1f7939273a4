import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useMemo } from 'react'
import { momentQuery } from '../api/queries.ts'
import type { DifferenceAt } from '../past/now-tip.tsx'
import type { ViewChange, ViewState } from '../state/view-state.ts'
import { showError } from '../ui/toasts.tsx'
import { useLatest } from '../ui/use-latest.ts'
import type { GridModel } from './interaction/use-grid.ts'

// Loaded when an earlier state is first shown.
const TimeBar = lazy(() => import('../past/time-bar.tsx'))
const NowTip = lazy(() => import('../past/now-tip.tsx'))

/** Returns the way to earlier states: that of the last entry at first, then from change to change, and back. */
export function useTime(
  { asOf }: ViewState,
  change: (change: ViewChange) => void,
): (to: 'previous' | 'next' | 'now' | 'earlier') => void {
  const client = useQueryClient()
  return (to) => {
    if (to === 'now') return change({ asOf: null })
    const go = async (): Promise<void> => {
      const moment = await client.fetchQuery({ ...momentQuery(asOf), staleTime: 0 })
      const seq = to === 'earlier' ? moment.seq : moment[to]
      if (seq !== null) change({ asOf: String(seq) })
    }
    go().catch(showError)
  }
}

interface OpenTimeBarProps {
  readonly asOf: string
  readonly model: GridModel
}

/** The bar above an earlier state, and the present values under the pointer. */
export function OpenTimeBar({ asOf, model }: OpenTimeBarProps) {
  const { rows, columns, scroller, change } = model
  const latest = useLatest({ rows, columns })
  const differenceAt = useMemo<DifferenceAt>(
    () => (row, column) => {
      const { current } = latest
      const field = current.columns.layout.columns[column]?.field
      const recordId = current.rows.at(row)?.['id']
      const changed = current.rows.changedAt(row)
      if (field === undefined || typeof recordId !== 'string') return null
      if (changed !== null && !changed.includes(field.name)) return null
      return { recordId, field, isDeleted: changed === null }
    },
    [latest],
  )
  return (
    <Suspense fallback={<div className="grid-time-waiting" aria-busy="true" />}>
      <TimeBar
        asOf={asOf}
        changed={rows.changed}
        onGo={(to) => {
          change({ asOf: to })
          if (to === null) scroller.element?.focus({ preventScroll: true })
        }}
      />
      <NowTip grid={scroller.element} at={differenceAt} />
    </Suspense>
  )
}

import { useEffect } from 'react'
import type { RunSummary } from '../../../../src/wire/runs/runs.ts'
import { runningStore } from '../../runs/progress/running-store.ts'
import { useLatest } from '../../ui/use-latest.ts'
import { visibleWidth, type Column, type ColumnLayout } from './column-layout.ts'
import type { ScrollController } from './scroll-controller.ts'

/** Scrolls to the first column that a run computes when this page starts one and none of them is in view. */
export function useShowingRun(scroller: ScrollController, layout: ColumnLayout): void {
  const latest = useLatest(layout)
  useEffect(
    () =>
      runningStore.onBegin((run) => {
        const targets = targetsOf(run, latest.current)
        if (!targets.some((column) => isInView(column, latest.current, scroller)))
          showColumn(targets[0], latest.current, scroller)
      }),
    [scroller, latest],
  )
}

/** Scrolls a column to the left edge, beside the pinned ones. */
export function showColumn(
  column: Column | undefined,
  { pinnedEnd }: ColumnLayout,
  scroller: ScrollController,
): void {
  if (column !== undefined && !column.isPinned) scroller.scrollToLeft(column.left - pinnedEnd)
}

/** Returns the first derived column; undefined for none. */
export function firstDerived({ columns }: ColumnLayout): Column | undefined {
  return columns.find(({ field }) => field.derived !== null)
}

function targetsOf({ kind, targets }: RunSummary, { columns }: ColumnLayout): readonly Column[] {
  if (kind === 'revert') return []
  return columns.filter(({ field }) => field.derived !== null && (targets?.includes(field.name) ?? true))
}

function isInView(
  { left, width, isPinned }: Column,
  layout: ColumnLayout,
  { left: scrolled, view }: ScrollController,
): boolean {
  if (isPinned) return true
  return left - scrolled >= layout.pinnedEnd && left + width - scrolled <= visibleWidth(layout, view.width)
}

import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useLayoutEffect, useMemo, useState, useSyncExternalStore } from 'react'
import type { SheetContract } from '../../api/contract.ts'
import { useDrawer, type ColumnDrawerControl } from '../../columns/use-drawer.ts'
import { useEditing, type Editing } from '../../editing/use-editing.ts'
import { useRunning, type RunningScope } from '../../runs/progress/running-cells.ts'
import {
  filterOf,
  pastListOf,
  useViewState,
  type ViewChange,
  type ViewState,
} from '../../state/view-state.ts'
import type { CellContext } from './cell-actions.ts'
import { ScrollController } from '../layout/scroll-controller.ts'
import type { ScrollView } from '../layout/scroll-view.ts'
import { useKeptPlace } from '../layout/use-kept-place.ts'
import { useCellSelection, type CellSelecting } from '../selection/use-cell-selection.ts'
import { useShowingRun } from '../layout/use-showing-run.ts'
import { useColumns, type Columns } from '../layout/use-columns.ts'
import { useLatest } from '../../ui/use-latest.ts'
import { useRows, type Rows } from '../rows/use-rows.ts'
import { useHeldEdits } from '../rows/use-held-edits.ts'
import { useCheckedRecords, type CheckedRecords } from '../rows/use-checked-records.ts'

/** The shared state of the grid. */
export interface GridModel {
  readonly contract: SheetContract
  readonly view: ViewState
  readonly change: (change: ViewChange) => void
  readonly scroller: ScrollController
  readonly scroll: ScrollView
  readonly columns: Columns
  readonly rows: Rows
  readonly editing: Editing
  readonly selecting: CellSelecting
  readonly checked: CheckedRecords
  /** The cells that the current run computes. */
  readonly running: RunningScope
  /** The drawer that adds and edits columns. */
  readonly drawer: ColumnDrawerControl
  /** The context of cell actions. */
  readonly context: CellContext
}

/** The number of placeholder rows while the count is not loaded. */
const WAITING_ROWS = 40

export function useGrid(contract: SheetContract): GridModel {
  const client = useQueryClient()
  const [view, changeView] = useViewState()
  const latestChange = useLatest(changeView)
  const change = useCallback((wanted: ViewChange) => latestChange.current(wanted), [latestChange])
  const [scroller] = useState(() => new ScrollController())
  const scroll = useSyncExternalStore(scroller.subscribe, () => scroller.view)
  const { asOf } = view
  const filter = filterOf(asOf === null ? view : pastListOf(view))
  const { sort } = view
  const wanted = useMemo(() => ({ filter, sort, asOf }), [filter, sort, asOf])
  const hasDerived = contract.fields.some(({ derived }) => derived !== null)
  const rows = useRows(wanted, scroll, hasDerived)
  const drawer = useDrawer(contract)
  const columns = useColumns(contract, scroll.width, rows.count, {
    ghost: drawer.ghost,
    mayAdd: drawer.mayChange,
  })
  const { layout, headHeight, rowHeight } = columns
  const drawn = rows.count ?? WAITING_ROWS
  useLayoutEffect(
    () => scroller.set({ count: drawn, layout, headHeight, rowHeight }),
    [scroller, drawn, layout, headHeight, rowHeight],
  )
  useLayoutEffect(() => scroller.setLoaded(rows.areLoaded))
  const begun = useKeptPlace({ scroller, list: wanted, count: rows.count, cell: view.cell })
  const editing = useHeldEdits(useEditing(contract), view, rows)
  const selecting = useCellSelection({ view, change, rows, layout, scroller, begun })
  const checked = useCheckedRecords(rows)
  useShowingRun(scroller, layout)
  const { targets, records, only, isBounded, underWay } = useRunning()
  const running = useMemo(
    () => ({ targets, records, only, isBounded, underWay }),
    [targets, records, only, isBounded, underWay],
  )
  const context = { client, rows, layout, editing }
  return {
    contract,
    view,
    change,
    scroller,
    scroll,
    columns,
    rows,
    editing,
    selecting,
    checked,
    running,
    drawer,
    context,
  }
}

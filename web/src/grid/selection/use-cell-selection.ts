import { useEffect, useMemo, useRef, useState } from 'react'
import type { RecordSelection } from '../../api/queries.ts'
import type { CellRef, ViewChange, ViewState } from '../../state/view-state.ts'
import { HEAD_ROW, moveTo, selectColumn, type CellSelection, type Place } from './cell-range.ts'
import { scrollLeftToShow, type ColumnLayout } from '../layout/column-layout.ts'
import { storeRow } from '../rows/locate-record.ts'
import type { KeptPlace } from '../layout/kept-place.ts'
import type { ScrollController } from '../layout/scroll-controller.ts'
import { keyOf, useAddressSync } from './use-address-sync.ts'
import { useReveal } from './use-reveal.ts'
import type { Rows } from '../rows/use-rows.ts'

/** A position by column name, because columns may move. */
interface NamedPlace {
  readonly row: number
  readonly field: string
}

interface Named {
  readonly focus: NamedPlace
  readonly end: NamedPlace
}

export interface CellSelecting {
  readonly selection: CellSelection | null
  /** The active cell, if its record is loaded. */
  readonly cell: CellRef | null
  /** Selects and scrolls the moving end of the range into view. */
  select(selection: CellSelection): void
  /** Selects without scrolling. */
  selectQuietly(selection: CellSelection): void
  /** Extends the range without scrolling. */
  extendQuietly(place: Place): void
  /** Moves to a cell, limited to the grid. */
  goTo(place: Place, extend?: boolean): void
  /** Selects a column; with `extend`, all columns from that of the active cell. */
  goToColumn(column: number, extend: boolean): void
  /** Moves to a record wherever it is. */
  reveal(cell: CellRef): void
  /** Whether the selection waits for a cell to be revealed. */
  readonly isSuspended: boolean
  /** Selects nothing until a cell is revealed, so that keys change none; the address keeps the last one. */
  suspend(): void
  clear(): void
}

interface Parts {
  readonly view: ViewState
  readonly change: (change: ViewChange) => void
  readonly rows: Rows
  readonly layout: ColumnLayout
  readonly scroller: ScrollController
  /** The place at which the grid began; null for the first row. */
  readonly begun: KeptPlace | null
}

/** Returns the selected cells, synchronized with the URL. */
export function useCellSelection({ view, change, rows, layout, scroller, begun }: Parts): CellSelecting {
  const [named, setNamed] = useState<Named | null>(null)
  const [isSuspended, setSuspended] = useState(false)
  const selection = useMemo(() => (named === null ? null : toPlaces(named, layout)), [named, layout])
  const recordId = idAt(rows, named)
  const focusField = named?.focus.field ?? null
  const cell = useMemo(
    () => (recordId === null || focusField === null ? null : { recordId, field: focusField }),
    [recordId, focusField],
  )

  const selectQuietly = (wanted: CellSelection): void => {
    setSuspended(false)
    setNamed(toNames(wanted, layout))
  }
  const select = (wanted: CellSelection): void => {
    selectQuietly(wanted)
    show(scroller, layout, wanted.end)
  }
  useStayingInSight(scroller, layout, selection)
  const extent = { rows: rows.count ?? 0, columns: layout.columns.length }
  const goTo = (place: Place, extend = false): void => select(moveTo(selection, place, extend, extent))

  const goToColumn = (column: number, extend: boolean): void =>
    selectQuietly(selectColumn(selection, column, extend, extent))

  const extendQuietly = (place: Place): void => {
    const end = selection?.end
    if (end?.row !== place.row || end.column !== place.column)
      selectQuietly(moveTo(selection, place, true, extent))
  }

  // The cell that was selected before stays where it was, also out of view.
  const stays = useRef(keyOf(begun?.cell ?? null))
  const isRevealing = useRef(false)
  const arrive = (wanted: CellSelection | null, found: CellRef): void => {
    isRevealing.current = false
    setSuspended(false)
    if (wanted === null) return
    if (stays.current === keyOf(found)) selectQuietly(wanted)
    else select(wanted)
    stays.current = ''
  }
  const setWanted = useReveal({ rows, arrive, layout, scroller })
  const suspend = (): void => {
    setNamed(null)
    setSuspended(true)
  }
  const reveal = (wanted: CellRef): void => {
    isRevealing.current = true
    setWanted(wanted)
  }
  const seen = useRef(keyOf(view.cell))
  useAddressSync({ cell, view, change, seen, reveal })
  useKeepingRecord(rows, named, setNamed)
  useLeavingWithRows(rows, () => {
    if (named?.focus.row !== HEAD_ROW) setNamed(null)
    scroller.scrollTo(0)
    if (!view.panel && view.cell !== null && !isRevealing.current) change({ cell: null })
  })
  const clear = (): void => {
    setNamed(null)
    setSuspended(false)
    seen.current = ''
    change({ cell: null, panel: false })
  }
  return {
    selection,
    cell,
    select,
    selectQuietly,
    extendQuietly,
    goTo,
    goToColumn,
    reveal,
    isSuspended,
    suspend,
    clear,
  }
}

function idAt(rows: Rows, named: Named | null): string | null {
  const id = named === null || named.focus.row < 0 ? undefined : rows.at(named.focus.row)?.['id']
  return typeof id === 'string' ? id : null
}

function toPlaces({ focus, end }: Named, layout: ColumnLayout): CellSelection {
  const place = ({ row, field }: NamedPlace): Place => ({ row, column: layout.indexByName.get(field) ?? 0 })
  return { focus: place(focus), end: place(end) }
}

function toNames({ focus, end }: CellSelection, layout: ColumnLayout): Named {
  const name = ({ row, column }: Place): NamedPlace => ({
    row,
    field: layout.columns[column]?.field.name ?? '',
  })
  return { focus: name(focus), end: name(end) }
}

function show(scroller: ScrollController, layout: ColumnLayout, { row, column: index }: Place): void {
  if (row !== HEAD_ROW) scroller.showRow(row)
  const column = layout.columns[index]
  if (column !== undefined)
    scroller.scrollToLeft(scrollLeftToShow(layout, column, scroller.left, scroller.view.width))
}

/** Keeps the selected cell in view when the viewport shrinks, as when the panel opens. */
function useStayingInSight(
  scroller: ScrollController,
  layout: ColumnLayout,
  selection: CellSelection | null,
): void {
  const { width, height } = scroller.view
  const before = useRef({ width, height })
  useEffect(() => {
    const { current } = before
    before.current = { width, height }
    if (selection === null || (width >= current.width && height >= current.height)) return
    const top = selection.focus.row * scroller.rowHeight - scroller.offset
    if (top > -scroller.rowHeight && top < current.height) show(scroller, layout, selection.focus)
    // Runs only when the size changes.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [width, height])
}

/** Keeps the selection on its record when rows are inserted or removed before it. */
function useKeepingRecord(rows: Rows, named: Named | null, setNamed: (named: Named) => void): void {
  const kept = useRef<{ readonly row: number; readonly id: string; readonly list: RecordSelection } | null>(
    null,
  )
  useEffect(() => {
    const id = idAt(rows, named)
    if (named === null || id === null) {
      kept.current = null
      return
    }
    const before = kept.current
    kept.current = { row: named.focus.row, id, list: rows.selection }
    storeRow(id, named.focus.row)
    if (before?.row !== named.focus.row || before.id === id || !isSameOrder(before.list, rows.selection))
      return
    const row = rows.find(before.id)
    if (row === null) return
    const by = row - named.focus.row
    kept.current = { row, id: before.id, list: rows.selection }
    setNamed({
      focus: { ...named.focus, row },
      end: { ...named.end, row: Math.max(0, named.end.row + by) },
    })
  })
}

/** Clears the selection and scrolls to the top when the filter or sort order changes, not with another moment. */
function useLeavingWithRows(rows: Rows, leave: () => void): void {
  const shown = useRef(rows.selection)
  useEffect(() => {
    const before = shown.current
    if (before === rows.selection) return
    shown.current = rows.selection
    if (!isSameOrder(before, rows.selection)) leave()
  })
}

/** Whether two lists have the same filter and order, perhaps of different moments. */
function isSameOrder(one: RecordSelection, other: RecordSelection): boolean {
  return one.filter === other.filter && one.sort === other.sort
}

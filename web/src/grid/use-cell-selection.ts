import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { tellError } from '../ui/toasts.tsx'
import type { CellRef, ViewChange, ViewState } from '../state/view-state.ts'
import { HEAD_ROW, moveTo, selectPlace, type CellSelection, type Place } from './cell-range.ts'
import { scrollLeftToShow, type ColumnLayout } from './column-layout.ts'
import { locateRecord, rememberedRow, rememberRow } from './locate-record.ts'
import { ROW_HEIGHT, type ScrollKeeper } from './scroll-keeper.ts'
import type { Rows } from './use-rows.ts'

/** Columns may move while cells are selected, so these are known by name. */
interface NamedPlace {
  readonly row: number
  readonly field: string
}

interface Named {
  readonly focus: NamedPlace
  readonly anchor: NamedPlace
}

export interface CellSelecting {
  readonly selection: CellSelection | null
  /** The cell that has the focus, when its record is known. */
  readonly cell: CellRef | null
  /** Selects, and brings the focus into sight. */
  select(selection: CellSelection): void
  /** Selects, and leaves what is in sight as it is. */
  selectQuietly(selection: CellSelection): void
  /** The range reaches to here; what is in sight is left as it is. */
  extendQuietly(place: Place): void
  /** Goes to a cell, as far as there are any. */
  goTo(place: Place, extend?: boolean): void
  /** Goes to a record wherever it is. */
  reveal(cell: CellRef): void
  clear(): void
}

interface Parts {
  readonly view: ViewState
  readonly change: (change: ViewChange) => void
  readonly rows: Rows
  readonly layout: ColumnLayout
  readonly keeper: ScrollKeeper
}

/** The address bar follows the selection this much later: browsers allow few changes of it in a time. */
const FOLLOW_MS = 200

/** The selected cells. The address bar follows; and leads, when it names another cell. */
export function useCellSelection({ view, change, rows, layout, keeper }: Parts): CellSelecting {
  const [named, setNamed] = useState<Named | null>(null)
  const selection = useMemo(() => (named === null ? null : toPlaces(named, layout)), [named, layout])
  const recordId = idAt(rows, named)
  const focusField = named?.focus.field ?? null
  const cell = useMemo(
    () => (recordId === null || focusField === null ? null : { recordId, field: focusField }),
    [recordId, focusField],
  )

  const selectQuietly = (wanted: CellSelection): void => setNamed(toNames(wanted, layout))
  const select = (wanted: CellSelection): void => {
    selectQuietly(wanted)
    show(keeper, layout, wanted.focus)
  }
  useStayingInSight(keeper, layout, selection)
  const extent = { rows: rows.count ?? 0, columns: layout.columns.length }
  const goTo = (place: Place, extend = false): void => select(moveTo(selection, place, extend, extent))

  const extendQuietly = (place: Place): void => {
    const focus = selection?.focus
    if (focus?.row !== place.row || focus.column !== place.column)
      selectQuietly(moveTo(selection, place, true, extent))
  }

  const reveal = useReveal({ rows, select, layout, keeper })
  const seen = useRef(keyOf(view.cell))
  useFollowingAddress({ cell, view, change, seen, reveal })
  useKeepingRecord(rows, named, setNamed)
  useLeavingWithRows(rows, () => {
    if (named?.focus.row !== HEAD_ROW) setNamed(null)
    keeper.scrollTo(0)
    if (!view.panel && view.cell !== null) change({ cell: null })
  })
  const clear = (): void => {
    setNamed(null)
    seen.current = ''
    change({ cell: null, panel: false })
  }
  return { selection, cell, select, selectQuietly, extendQuietly, goTo, reveal, clear }
}

function keyOf(cell: CellRef | null): string {
  return cell === null ? '' : `${cell.recordId}\0${cell.field}`
}

function idAt(rows: Rows, named: Named | null): string | null {
  const id = named === null || named.focus.row < 0 ? undefined : rows.at(named.focus.row)?.['id']
  return typeof id === 'string' ? id : null
}

function toPlaces({ focus, anchor }: Named, layout: ColumnLayout): CellSelection {
  const place = ({ row, field }: NamedPlace): Place => ({ row, column: layout.indexByName.get(field) ?? 0 })
  return { focus: place(focus), anchor: place(anchor) }
}

function toNames({ focus, anchor }: CellSelection, layout: ColumnLayout): Named {
  const name = ({ row, column }: Place): NamedPlace => ({
    row,
    field: layout.columns[column]?.field.name ?? '',
  })
  return { focus: name(focus), anchor: name(anchor) }
}

function show(keeper: ScrollKeeper, layout: ColumnLayout, { row, column: index }: Place): void {
  if (row !== HEAD_ROW) keeper.showRow(row)
  const column = layout.columns[index]
  if (column !== undefined)
    keeper.scrollToLeft(scrollLeftToShow(layout, column, keeper.left, keeper.view.width))
}

/** When there is less room, as when the panel opens, the selected cell stays in sight if it was. */
function useStayingInSight(
  keeper: ScrollKeeper,
  layout: ColumnLayout,
  selection: CellSelection | null,
): void {
  const { width, height } = keeper.view
  const before = useRef({ width, height })
  useEffect(() => {
    const { current } = before
    before.current = { width, height }
    if (selection === null || (width >= current.width && height >= current.height)) return
    const top = selection.focus.row * ROW_HEIGHT - keeper.offset
    if (top > -ROW_HEIGHT && top < current.height) show(keeper, layout, selection.focus)
    // Only what becomes smaller counts.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [width, height])
}

interface Following extends Pick<Parts, 'view' | 'change'> {
  readonly cell: CellRef | null
  /** The cell that the address bar is known to have, so that another there is noticed. */
  readonly seen: { current: string }
  readonly reveal: (cell: CellRef) => void
}

function useFollowingAddress({ cell, view, change, seen, reveal }: Following): void {
  const isFirst = useRef(true)
  const named = keyOf(view.cell)
  useEffect(() => {
    const isNew = isFirst.current || named !== seen.current
    isFirst.current = false
    seen.current = named
    if (isNew && view.cell !== null && named !== keyOf(cell)) reveal(view.cell)
    // Only what the address bar says counts here.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [named])
  useEffect(() => {
    if (cell === null || keyOf(cell) === seen.current) return
    const timer = setTimeout(() => {
      seen.current = keyOf(cell)
      change({ cell })
    }, FOLLOW_MS)
    return () => clearTimeout(timer)
    // oxlint-disable-next-line react/exhaustive-deps
  }, [cell])
}

interface Revealing extends Pick<Parts, 'rows' | 'layout' | 'keeper'> {
  readonly select: (selection: CellSelection) => void
}

/** Goes to a record as soon as there are rows: looks among those that are there, then asks where it is. */
function useReveal({ rows, select, layout, keeper }: Revealing): (cell: CellRef) => void {
  const client = useQueryClient()
  const [wanted, setWanted] = useState<CellRef | null>(null)
  const isReady = rows.count !== null && !rows.isWaiting && rows.at(0) !== undefined
  useEffect(() => {
    if (wanted === null || !isReady) return
    const stop = new AbortController()
    const { recordId, field } = wanted
    const { signal } = stop
    const goThere = async (): Promise<void> => {
      const guess = rememberedRow(recordId)
      const row =
        rows.find(recordId) ?? (await locateRecord(client, rows.selection, recordId, { guess, signal }))
      if (signal.aborted) return
      setWanted(null)
      if (row === null) return
      select(selectPlace({ row, column: layout.indexByName.get(field) ?? 0 }))
      // After a reload the keyboard goes on where it was.
      if (document.activeElement === document.body) keeper.element?.focus({ preventScroll: true })
    }
    goThere().catch((error: unknown) => {
      if (signal.aborted) return
      setWanted(null)
      tellError(error)
    })
    return () => stop.abort()
    // oxlint-disable-next-line react/exhaustive-deps
  }, [wanted, isReady])
  return setWanted
}

/** When rows come or go before it, the selection stays with its record. */
function useKeepingRecord(rows: Rows, named: Named | null, setNamed: (named: Named) => void): void {
  const kept = useRef<{ readonly row: number; readonly id: string; readonly list: object } | null>(null)
  useEffect(() => {
    const id = idAt(rows, named)
    if (named === null || id === null) {
      kept.current = null
      return
    }
    const before = kept.current
    kept.current = { row: named.focus.row, id, list: rows.selection }
    rememberRow(id, named.focus.row)
    if (before?.row !== named.focus.row || before.id === id || before.list !== rows.selection) return
    const row = rows.find(before.id)
    if (row === null) return
    const by = row - named.focus.row
    kept.current = { row, id: before.id, list: rows.selection }
    setNamed({
      focus: { ...named.focus, row },
      anchor: { ...named.anchor, row: Math.max(0, named.anchor.row + by) },
    })
  })
}

/** Another filter or order begins at the top, with no cell selected. */
function useLeavingWithRows(rows: Rows, leave: () => void): void {
  const shown = useRef(rows.selection)
  useEffect(() => {
    if (shown.current === rows.selection) return
    shown.current = rows.selection
    leave()
  })
}

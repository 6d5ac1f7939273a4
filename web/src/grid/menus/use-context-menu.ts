import { useState, type MouseEvent } from 'react'
import { placeAt, type Point } from '../interaction/place-at.ts'
import type { GridModel } from '../interaction/use-grid.ts'
import { cellId } from '../selection/cell-id.ts'
import { HEAD_ROW, hasWholeRow, includes, rangeOf, selectRow, type Place } from '../selection/cell-range.ts'

/** An open context menu: of the selected cells, of the selected rows, or of the checked records. */
export interface AskedMenu {
  readonly at: Point
  readonly of: 'cells' | 'rows' | 'checked'
}

interface ContextMenu {
  readonly asked: AskedMenu | null
  readonly close: () => void
  /** Opens the menu of the active cell, or of the records that are selected with it. */
  readonly openHere: () => void
  readonly onContextMenu: (event: MouseEvent<HTMLElement>) => void
}

/** Opens the context menus of cells and rows, and with `openHead` those of columns. */
export function useContextMenu(model: GridModel, openHead: (column: number) => void): ContextMenu {
  const { selecting, columns, rows, checked } = model
  const [asked, setAsked] = useState<AskedMenu | null>(null)
  const { selection } = selecting
  const extent = { rows: rows.count ?? 0, columns: columns.layout.columns.length }
  const recordsAt = (row: number): 'rows' | 'checked' | null => {
    if (hasWholeRow(selection, row, extent)) return 'rows'
    return checked.ids.has(String(rows.at(row)?.['id'])) ? 'checked' : null
  }
  const onContextMenu = (event: MouseEvent<HTMLElement>): void => {
    const { target, currentTarget } = event
    // Fields and links have the menu of the browser.
    if (!(target instanceof Element) || !currentTarget.contains(target) || target.closest('input, a')) return
    event.preventDefault()
    // The menu key of some systems is reported as a key and as this event.
    if (asked !== null) return
    const head = target.closest('.grid-head-cell')
    if (head !== null) {
      openHead(Number(head.getAttribute('aria-colindex')) - 2)
      return
    }
    if (target.closest('.grid-row') === null) return
    const at = { x: event.clientX, y: event.clientY }
    const place = placeAt(model, at)
    if (place === null) return
    if (target.closest('.grid-gutter') === null) {
      const isInside =
        selection !== null && selection.focus.row !== HEAD_ROW && includes(rangeOf(selection), place)
      if (!isInside) selecting.goTo(place)
      setAsked({ at, of: 'cells' })
      return
    }
    const of = recordsAt(place.row)
    if (of === null) selecting.selectQuietly(selectRow(place.row, extent))
    setAsked({ at, of: of ?? 'rows' })
  }
  return {
    asked,
    close: () => setAsked(null),
    openHere: () => {
      const focus = selection?.focus ?? null
      const at = cornerOf(focus)
      if (at !== null && focus !== null) setAsked({ at, of: recordsAt(focus.row) ?? 'cells' })
    },
    onContextMenu,
  }
}

/** Returns the place of a menu below a cell. */
function cornerOf(place: Place | null): Point | null {
  const box = place === null ? undefined : document.getElementById(cellId(place))?.getBoundingClientRect()
  return box === undefined ? null : { x: box.left + 12, y: box.bottom }
}

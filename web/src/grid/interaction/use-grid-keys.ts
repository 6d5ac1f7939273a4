import type { KeyboardEvent } from 'react'
import { isOfInputMethod } from '../../editing/editors/input-method.ts'
import { showError } from '../../ui/toasts.tsx'
import { clearRange, isToggle, toggleRange } from './cell-actions.ts'
import { fillDown } from './fill-cells.ts'
import {
  HEAD_ROW,
  isSingle,
  nextInReadingOrder,
  rangeOf,
  selectPlace,
  type Place,
} from '../selection/cell-range.ts'
import { focusSummary } from '../selection/cell-id.ts'
import { keyAction, type KeyAction } from '../selection/key-action.ts'
import type { Editor } from './use-editor.ts'
import type { GridModel } from './use-grid.ts'

export interface GridKeysHost {
  readonly model: GridModel
  readonly editor: Editor
  openMenu(column: number): void
  /** Opens the menu of the selected cells, or of the selected records. */
  openContextMenu(): void
  /** Sorts by a column; `add` keeps the other columns of the sort order. */
  sortBy(column: number, add: boolean): void
  goToRecord(): void
  addRecord(): void
}

/** Handles keys while the grid has the focus. */
export function useGridKeys(host: GridKeysHost): (event: KeyboardEvent<HTMLElement>) => void {
  return (event) => {
    // Editors and menus handle their own keys.
    if (event.target !== event.currentTarget || isOfInputMethod(event)) return
    const { selecting, columns, rows, scroller } = host.model
    // Tab would leave the grid, and a text would have no cell.
    if (selecting.isSuspended) {
      event.preventDefault()
      return
    }
    const start = firstVisible(host.model)
    const action = keyAction(event, {
      focus: selecting.selection?.focus ?? start,
      end: selecting.selection?.end ?? start,
      lastRow: (rows.count ?? 0) - 1,
      lastColumn: columns.layout.columns.length - 1,
      pageRows: scroller.view.pageRows,
    })
    if (action === null) return
    if (perform(host, action, event)) event.preventDefault()
  }
}

function firstVisible({ scroller, rows }: GridModel): Place {
  return { row: Math.min(Math.ceil(scroller.offset / scroller.rowHeight), (rows.count ?? 1) - 1), column: 0 }
}

/** Performs an action; false leaves the key to the browser. */
function perform(host: GridKeysHost, action: KeyAction, event: KeyboardEvent): boolean {
  const { model, editor } = host
  const { selecting, columns, rows, editing, checked } = model
  const { selection } = selecting
  switch (action.do) {
    case 'undo':
    case 'redo':
      editing[action.do]()
      return true
    case 'goTo':
      host.goToRecord()
      return true
    case 'selectAll':
      selectAll(model)
      return true
    default:
  }
  if (selection === null) {
    if (action.do !== 'move') return false
    // Without a selection, an arrow key starts in the visible rows.
    const isStep = event.key.startsWith('Arrow') && !event.ctrlKey && !event.metaKey
    selecting.goTo(isStep ? firstVisible(model) : action.to)
    return true
  }
  const { focus } = selection
  const isHead = focus.row === HEAD_ROW
  switch (action.do) {
    case 'move':
      selecting.goTo(action.to, action.extend)
      // The first column may be pinned, and therefore visible already.
      if (event.key === 'Home') model.scroller.scrollToLeft(0)
      return true
    case 'next': {
      const extent = { rows: rows.count ?? 0, columns: columns.layout.columns.length }
      const next = nextInReadingOrder(selection, action.back, extent)
      if (next === null) return false
      selecting.select(next)
      return true
    }
    case 'menu':
      host.openMenu(focus.column)
      return true
    case 'add':
      if (isHead) host.sortBy(focus.column, true)
      else host.addRecord()
      return true
    case 'contextMenu':
      if (isHead) host.openMenu(focus.column)
      else host.openContextMenu()
      return true
    case 'escape':
      return escape(model)
    case 'edit':
      if (isHead) {
        if (event.key === 'F2') return focusSummary(focus.column)
        if (event.key === 'Enter') host.sortBy(focus.column, false)
        return event.key === 'Enter'
      }
      editor.begin(action.typed)
      return true
    case 'panel':
      if (isHead) host.openMenu(focus.column)
      else if (isToggle(model.context, focus.column)) {
        toggleRange(model.context, rangeOf(selection), focus).catch(showError)
      } else model.change({ panel: !model.view.panel, cell: selecting.cell ?? model.view.cell })
      return true
    case 'check':
      if (!isHead) checked.toggle(focus.row, false)
      return true
    case 'selectColumn':
      selecting.goToColumn(selection.end.column, !isHead)
      return true
    case 'fillDown':
      if (!isHead) fillDown(model.context, rangeOf(selection)).catch(showError)
      return true
    case 'clear':
      if (!isHead) clearRange(model.context, rangeOf(selection)).catch(showError)
      return true
  }
}

function selectAll({ selecting, columns, rows }: GridModel): void {
  const count = rows.count ?? 0
  if (count === 0) return
  selecting.selectQuietly({
    focus: { row: 0, column: 0 },
    end: { row: count - 1, column: columns.layout.columns.length - 1 },
  })
}

/**
 * Discards a refused edit, else reduces the range, else closes the panel, else clears the selection; then Tab leaves
 * the grid.
 */
function escape({ selecting, editing, view, change }: GridModel): boolean {
  const { selection, cell } = selecting
  if (selection === null) return false
  if (cell !== null && editing.pending(cell)?.state === 'refused') editing.discard(cell)
  else if (!isSingle(selection)) selecting.select(selectPlace(selection.focus))
  else if (view.panel) change({ panel: false })
  else selecting.clear()
  return true
}

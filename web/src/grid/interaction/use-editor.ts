import { useState } from 'react'
import type { SheetField } from '../../api/contract.ts'
import { showError } from '../../ui/toasts.tsx'
import type { Move } from '../../editing/editors/editor-session.ts'
import { readOnlyReason } from './cell-actions.ts'
import { setCells } from './fill-cells.ts'
import {
  isSingle,
  nextInReadingOrder,
  rangeOf,
  selectPlace,
  sizeOf,
  type CellRange,
  type Place,
} from '../selection/cell-range.ts'
import type { Columns } from '../layout/use-columns.ts'
import type { GridModel } from './use-grid.ts'
import type { Rows } from '../rows/use-rows.ts'

/** The cell that is being edited. */
export interface OpenEditor extends Place {
  readonly recordId: string
  readonly field: SheetField
  /** The selected cells, which a value can be written to together. */
  readonly range: CellRange
  /** The typed or composed text that opened the editor; null to edit the present value. */
  readonly typed: string | null
  /** The value that the cell showed when editing began. */
  readonly value: unknown
  /** The stored value at that time, to detect conflicting writes. */
  readonly previous: unknown
}

export interface Editor {
  readonly open: OpenEditor | null
  /** Edits the active cell, or shows why it is not editable. */
  begin(typed: string | null): void
  /** Returns the active cell for editing; null if there is none, or if it is not editable, which is shown. */
  target(): OpenEditor | null
  /** Edits a cell that {@link target} has returned. */
  show(cell: OpenEditor): void
  commit(value: unknown, move: Move): void
  cancel(): void
}

export function useEditor({ columns, rows, editing, selecting, scroller, context }: GridModel): Editor {
  const [begun, setOpen] = useState<OpenEditor | null>(null)
  const open = begun === null ? null : presentPosition(begun, rows, columns)
  const close = (): void => {
    setOpen(null)
    scroller.element?.focus({ preventScroll: true })
  }
  const move = (from: Place, to: Move): void => {
    if (to === 'none' || to === 'fill') return
    if (to === 'down') {
      selecting.goTo({ row: from.row + 1, column: from.column })
      return
    }
    const extent = { rows: rows.count ?? 0, columns: columns.layout.columns.length }
    const next = nextInReadingOrder(selectPlace(from), to === 'left', extent)
    if (next !== null) selecting.select(next)
  }
  const target = (): OpenEditor | null => {
    const { selection, cell } = selecting
    const focus = selection?.focus
    const field = focus === undefined ? undefined : columns.layout.columns[focus.column]?.field
    if (selection === null || focus === undefined || field === undefined || cell === null) return null
    if (!editing.mayWrite(field)) {
      showError(new Error(editing.refusal ?? readOnlyReason([field])))
      return null
    }
    if (isSingle(selection)) selecting.select(selection)
    const pending = editing.pending(cell)
    const stored = rows.at(focus.row)?.[field.name]
    const value = pending === undefined ? stored : pending.value
    const previous = pending?.state === 'saving' ? pending.value : stored
    const { recordId } = cell
    return { ...focus, range: rangeOf(selection), recordId, field, typed: null, value, previous }
  }
  return {
    open,
    target,
    show: setOpen,
    begin: (typed) => {
      const cell = target()
      if (cell !== null) setOpen({ ...cell, typed })
    },
    commit: (value, to) => {
      close()
      if (open === null) return
      const { recordId, field, previous, range } = open
      const done =
        to === 'fill' && sizeOf(range) > 1
          ? setCells(context, range, value)
          : editing.commit([{ recordId, field, value, previous }])
      done.catch(showError)
      move(open, to)
    },
    cancel: close,
  }
}

/** Returns the present position of the edited cell, after rows or columns have changed. */
function presentPosition(open: OpenEditor, rows: Rows, { layout }: Columns): OpenEditor {
  const row = rows.at(open.row)?.['id'] === open.recordId ? open.row : (rows.find(open.recordId) ?? open.row)
  const column = layout.indexByName.get(open.field.name) ?? open.column
  return { ...open, row, column }
}

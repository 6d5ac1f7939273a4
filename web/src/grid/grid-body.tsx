import { useLayoutEffect, useRef, type ReactNode } from 'react'
import type { RecordAnswer } from '../../../src/wire/records/records.ts'
import type { PendingEdit } from '../editing/use-editing.ts'
import { HEAD_ROW, isSingle, placeInRange, rangeOf, type CellRange } from './selection/cell-range.ts'
import { GridRow } from './grid-row.tsx'
import type { RowWindow } from './layout/row-window.ts'
import type { GridModel } from './interaction/use-grid.ts'

interface GridBodyProps {
  readonly model: GridModel
  /** Rendered over the rows and scrolled with them. */
  readonly children: ReactNode
}

/** The visible rows. */
export function GridBody({ model, children }: GridBodyProps) {
  const { scroll, columns, rows, selecting, checked, editing, running } = model
  const { selection } = selecting
  const range = selection === null || selection.focus.row === HEAD_ROW ? null : rangeOf(selection)
  const { first, end } = scroll.rows
  const slotOf = useSlots(scroll.rows)
  return (
    <div role="none" className="grid-body">
      <div role="rowgroup" className="grid-rows">
        {Array.from({ length: Math.max(0, end - first) }, (_, index) => {
          const row = first + index
          const record = rows.at(row)
          const isInRange = isWithin(range, row)
          return (
            <GridRow
              key={slotOf(row)}
              row={row}
              record={record}
              differing={record === undefined ? NONE : rows.changedAt(row)}
              states={record === undefined ? undefined : rows.statesOf(String(record['id']))}
              proposed={record === undefined ? undefined : rows.proposedOf(String(record['id']))}
              layout={columns.layout}
              firstColumn={scroll.columns.first}
              endColumn={scroll.columns.end}
              selectedFrom={isInRange ? (range?.left ?? -1) : -1}
              selectedTo={isInRange ? (range?.right ?? -1) : -1}
              rangePlace={
                range === null || selection === null || isSingle(selection) ? null : placeInRange(range, row)
              }
              activeColumn={selection?.focus.row === row ? selection.focus.column : -1}
              isChecked={record !== undefined && checked.ids.has(String(record['id']))}
              gutter={columns.gutter}
              pending={record === undefined ? null : pendingOf(model, record)}
              running={running}
              ghost={model.drawer.ghost}
              mayWrite={editing.mayWrite}
            />
          )
        })}
        {children}
      </div>
    </div>
  )
}

const NONE: readonly string[] = []

function isWithin(range: CellRange | null, row: number): boolean {
  return range !== null && row >= range.top && row <= range.bottom
}

/**
 * Maps rows to slots, so that elements of rows that leave the view are reused. After a jump the first slot is the
 * first row again, so that no element moves.
 */
function useSlots({ first, end, size }: RowWindow): (row: number) => number {
  const before = useRef({ first, end, base: first })
  const overlaps = first < before.current.end && before.current.first < end
  const base = overlaps ? before.current.base : first
  useLayoutEffect(() => {
    before.current = { first, end, base }
  })
  return (row) => (((row - base) % size) + size) % size
}

/** The pending edits of the rendered cells of a record. */
function pendingOf(
  { editing, columns: { layout }, scroll }: GridModel,
  record: RecordAnswer,
): Readonly<Record<string, PendingEdit>> | null {
  const recordId = String(record['id'])
  let found: Record<string, PendingEdit> | null = null
  for (const { field } of [
    ...layout.pinned,
    ...layout.others.slice(scroll.columns.first, scroll.columns.end),
  ]) {
    const edit = editing.pending({ recordId, field: field.name })
    if (edit === undefined) continue
    found ??= {}
    found[field.name] = edit
  }
  return found
}

import { memo } from 'react'
import type { RecordAnswer } from '../../../src/wire/records/records.ts'
import type { SheetField } from '../api/contract.ts'
import type { Ghost } from '../columns/ghost.ts'
import type { PendingEdit } from '../editing/use-editing.ts'
import type { ProposedCells } from '../proposals/proposal-queries.ts'
import { stateInRun, type RunningScope } from '../runs/progress/running-cells.ts'
import { GhostCells } from './columns/ghost-cells.tsx'
import { drawsGhost, type Column, type ColumnLayout } from './layout/column-layout.ts'
import { GridCell } from './grid-cell.tsx'
import './grid-row.css'
import type { CellStates } from './rows/use-rows.ts'
import type { RangePlace } from './selection/cell-range.ts'

export interface GridRowProps {
  readonly row: number
  readonly record: RecordAnswer | undefined
  readonly states: CellStates | undefined
  /** In the past, the fields that have another value now; null for a record that was deleted since. */
  readonly differing: readonly string[] | null
  /** The cells for which proposals wait, by field. */
  readonly proposed: ProposedCells | undefined
  readonly layout: ColumnLayout
  /** The rendered range of the scrolling columns. */
  readonly firstColumn: number
  readonly endColumn: number
  /** The selected columns of the row, and the active one; -1 for none. */
  readonly selectedFrom: number
  readonly selectedTo: number
  /** The place of the row in a range of several cells; null outside of one. */
  readonly rangePlace: RangePlace | null
  readonly activeColumn: number
  readonly isChecked: boolean
  readonly gutter: number
  /** The edits of the row that are in flight or refused, by field; null for none. */
  readonly pending: Readonly<Record<string, PendingEdit>> | null
  /** The cells that the current run computes. */
  readonly running: RunningScope
  /** The columns that do not exist yet. */
  readonly ghost: Ghost | null
  readonly mayWrite: (field: SheetField) => boolean
}

const NUMBER = new Intl.NumberFormat('en')

/** A row, or its placeholder while loading; rendered only when it changes. */
export const GridRow = memo(function GridRow(props: GridRowProps) {
  const { row, record, layout, firstColumn, endColumn, isChecked, gutter, ghost } = props
  const others = layout.others.slice(firstColumn, endColumn)
  const ghostAt =
    layout.ghost !== null && drawsGhost(layout, firstColumn, endColumn)
      ? layout.ghost.index - firstColumn
      : others.length
  return (
    <div
      role="row"
      aria-rowindex={row + 2}
      aria-selected={isChecked}
      className={classOf(props)}
      data-row={row}
    >
      <div role="gridcell" aria-colindex={1} className="grid-gutter" style={{ width: gutter }}>
        <span className="grid-number" aria-hidden="true">
          {NUMBER.format(row + 1)}
        </span>
        {record !== undefined && (
          <span
            className="grid-check"
            role="checkbox"
            tabIndex={-1}
            aria-checked={isChecked}
            aria-label={`Select record ${String(record['id'])}`}
          />
        )}
      </div>
      {layout.pinned.map((column) => cellOf(props, column))}
      <div role="none" className="grid-others">
        <div role="none" className="grid-strip">
          {others.slice(0, ghostAt).map((column) => cellOf(props, column))}
          {ghost !== null && drawsGhost(layout, firstColumn, endColumn) && (
            <GhostCells ghost={ghost} recordId={record === undefined ? null : String(record['id'])} />
          )}
          {others.slice(ghostAt).map((column) => cellOf(props, column))}
        </div>
      </div>
    </div>
  )
}, isSameRow)

function classOf({ record, differing, isChecked }: GridRowProps): string {
  if (record === undefined) return 'grid-row waiting'
  return ['grid-row', isChecked && 'checked', differing === null && 'deleted-since'].filter(Boolean).join(' ')
}

function cellOf(props: GridRowProps, column: Column) {
  const { differing, proposed } = props
  const { row, record, states, selectedFrom, selectedTo, activeColumn, pending, running, mayWrite } = props
  const { name } = column.field
  const state = states?.[name]
  return (
    <GridCell
      key={name}
      row={row}
      column={column}
      isLoaded={record !== undefined}
      value={record?.[name]}
      pending={pending?.[name]}
      state={
        record === undefined
          ? state
          : stateInRun(running, { recordId: String(record['id']), field: name }, state)
      }
      proposed={proposed?.[name]}
      isSelected={column.index >= selectedFrom && column.index <= selectedTo}
      edges={edgesOf(props, column.index)}
      isActive={column.index === activeColumn}
      isReadOnly={!mayWrite(column.field)}
      difference={
        differing === null
          ? column.field.primaryKey
            ? 'The record was deleted since'
            : null
          : differing.includes(name)
            ? 'It has another value now'
            : null
      }
    />
  )
}

/** Returns the class names of the edges of the range at a column. */
function edgesOf({ selectedFrom, selectedTo, rangePlace }: GridRowProps, column: number): string {
  if (rangePlace === null || column < selectedFrom || column > selectedTo) return ''
  return [
    (rangePlace === 'top' || rangePlace === 'only') && 'edge-top',
    (rangePlace === 'bottom' || rangePlace === 'only') && 'edge-bottom',
    column === selectedFrom && 'edge-left',
    column === selectedTo && 'edge-right',
  ]
    .filter((name) => typeof name === 'string')
    .join(' ')
}

function isSameRow(before: GridRowProps, now: GridRowProps): boolean {
  return (Object.keys(now) as (keyof GridRowProps)[]).every((name) =>
    name === 'pending' ? isSamePending(before.pending, now.pending) : before[name] === now[name],
  )
}

function isSamePending(before: GridRowProps['pending'], now: GridRowProps['pending']): boolean {
  if (before === now) return true
  if (before === null || now === null) return false
  const names = Object.keys(now)
  return names.length === Object.keys(before).length && names.every((name) => before[name] === now[name])
}

import { CircleAlert, LoaderCircle, PanelRight, RotateCw } from 'lucide-react'
import { memo } from 'react'
import type { PendingEdit } from '../editing/use-editing.ts'
import type { ProposedCell } from '../proposals/proposal-queries.ts'
import { ProposedMark } from '../proposals/proposed-mark.tsx'
import { StateMark, type CellStateName } from '../ui/cell-state.tsx'
import { cellId } from './selection/cell-id.ts'
import { CellValueView } from '../values/cell-value-view.tsx'
import type { Column } from './layout/column-layout.ts'
import './grid-cell.css'

interface GridCellProps {
  readonly row: number
  readonly column: Column
  readonly isLoaded: boolean
  readonly value: unknown
  readonly pending: PendingEdit | undefined
  /** The state of a derived cell, once loaded. */
  readonly state: CellStateName | undefined
  /** The value that waits for a decision. */
  readonly proposed: ProposedCell | undefined
  readonly isSelected: boolean
  /** The class names of the edges of the selected range that are at this cell. */
  readonly edges: string
  readonly isActive: boolean
  readonly isReadOnly: boolean
  /** The difference between the cell of an earlier state and now, as a sentence; null for none. */
  readonly difference: string | null
}

/** A cell, rendered only when it changes. Its buttons are identified by `data-do` for the grid's event delegation. */
export const GridCell = memo(function GridCell(props: GridCellProps) {
  const {
    row,
    column,
    isLoaded,
    value,
    pending,
    state,
    proposed,
    isSelected,
    isActive,
    isReadOnly,
    difference,
  } = props
  const { field, index, width, format } = column
  return (
    <div
      role={field.primaryKey ? 'rowheader' : 'gridcell'}
      id={isActive ? cellId({ row, column: index }) : undefined}
      aria-colindex={index + 2}
      aria-selected={isSelected}
      aria-readonly={isReadOnly}
      aria-invalid={pending?.state === 'refused' ? true : undefined}
      className={classOf(props)}
      style={{ width }}
    >
      {isLoaded && (
        <CellValueView
          type={field.type}
          values={field.values}
          format={format}
          value={pending === undefined ? value : pending.value}
        />
      )}
      {difference !== null && <span className="differs-mark" role="img" aria-label={difference} />}
      {isLoaded && <CellEnd pending={pending} state={state} isActive={isActive} />}
      {isLoaded && proposed !== undefined && <ProposedMark cell={proposed} />}
    </div>
  )
})

function classOf({
  column: { field },
  isSelected,
  edges,
  isActive,
  isReadOnly,
  pending,
}: GridCellProps): string {
  const isNumber = field.type === 'number' || field.type === 'integer'
  return [
    'grid-cell',
    isNumber && 'right',
    field.type === 'boolean' && 'middle',
    field.derived !== null && 'derived',
    field.primaryKey && 'key',
    isReadOnly && 'read-only',
    isSelected && 'selected',
    edges,
    isActive && 'active',
    pending?.state,
  ]
    .filter((name) => typeof name === 'string' && name !== '')
    .join(' ')
}

/** The right end of a cell: the state of its edit, its cell state, and the provenance button. */
function CellEnd({ pending, state, isActive }: Pick<GridCellProps, 'pending' | 'state' | 'isActive'>) {
  return (
    <>
      {pending?.state === 'saving' && (
        <LoaderCircle className="grid-saving" size={12} role="img" aria-label="being saved" />
      )}
      {pending?.state === 'refused' && (
        <CircleAlert
          className="grid-refused"
          size={14}
          role="img"
          aria-label={`refused: ${pending.message ?? ''}`}
        />
      )}
      {isActive && state === 'failed' && (
        <button type="button" tabIndex={-1} className="grid-cell-button" data-do="retry" title="Try again">
          <RotateCw size={13} aria-label="Try again" />
        </button>
      )}
      {isActive && (
        <button
          type="button"
          tabIndex={-1}
          className="grid-cell-button"
          data-do="panel"
          title="Show provenance (Space)"
        >
          <PanelRight size={13} aria-label="Show provenance" />
        </button>
      )}
      {state !== undefined && <StateMark state={state} />}
    </>
  )
}

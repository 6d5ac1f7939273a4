import { ChartColumn, History, Plus, TextSearch, Trash2, X } from 'lucide-react'
import { memo } from 'react'
import type { SheetContract, SheetField } from '../api/contract.ts'
import { FilesMenu } from '../files/files-menu.tsx'
import { FilterBar } from '../filter/filter-bar.tsx'
import { PAST_FILTER, PAST_REASON } from '../state/as-of.ts'
import { filterOf, pastListOf, type ViewChange, type ViewState } from '../state/view-state.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { ColumnsMenu } from './columns/columns-menu.tsx'
import './grid-toolbar.css'
import { RunMenu } from './run-menu.tsx'
import { SortChips } from './columns/sort-chips.tsx'
import type { Columns } from './layout/use-columns.ts'
import { formatCount } from '../ui/format.ts'
import { ViewsMenu } from '../views/views-menu.tsx'

/** The open dialog. */
export type GridDialog = 'new' | 'delete' | 'goTo' | null

interface GridToolbarProps {
  readonly contract: SheetContract
  readonly view: ViewState
  readonly change: (change: ViewChange) => void
  readonly columns: Columns
  /** The number of records of the view; null while it is unknown. */
  readonly count: number | null
  /** The checked records. */
  readonly checkedIds: ReadonlySet<string>
  readonly onUncheck: () => void
  readonly mayDelete: boolean
  /** Begins a new column; null where the service refuses it. */
  readonly onAddColumn: (() => void) | null
  /** The field of the selected cell. */
  readonly field: SheetField | null
  readonly onDialog: (dialog: GridDialog) => void
  readonly onFind: () => void
  /** Shows an earlier state, or, if it is shown, the present one. */
  readonly onTime: () => void
}

/** The toolbar: filter, sort order, and actions on records. */
export const GridToolbar = memo(function GridToolbar(props: GridToolbarProps) {
  const { contract, view, change, columns, checkedIds, field, onDialog } = props
  if (view.asOf !== null) return <PastToolbar {...props} />
  const filter = filterOf(view)
  return (
    <div className="grid-toolbar" role="group" aria-label="Records">
      <div className="grid-toolbar-filter">
        <ViewsMenu contract={contract} view={view} />
        <FilterBar contract={contract} view={view} change={change} />
        <SortChips contract={contract} view={view} change={change} />
      </div>
      <div className="grid-toolbar-actions">
        {checkedIds.size > 0 && <CheckedActions {...props} />}
        <IconButton label="Find (Ctrl+F)" onClick={props.onFind}>
          <TextSearch size={16} />
        </IconButton>
        <IconButton
          label="Pinned charts"
          aria-pressed={view.charts === true}
          onClick={() => change({ charts: view.charts !== true, groups: null })}
        >
          <ChartColumn size={16} />
        </IconButton>
        <TimeButton {...props} />
        <ColumnsMenu columns={columns} onAdd={props.onAddColumn} />
        <FilesMenu view={{ filter, sort: view.sort, fields: fieldNames(columns) }} count={props.count} />
        <RunMenu contract={contract} field={field} checkedIds={checkedIds} filter={filter} />
        <Button
          look="primary"
          icon={<Plus size={15} />}
          aria-label="Add record"
          onClick={() => onDialog('new')}
        >
          Add<span className="grid-toolbar-noun"> record</span>
        </Button>
      </div>
    </div>
  )
})

function TimeButton({ view: { asOf }, onTime }: GridToolbarProps) {
  return (
    <IconButton
      className="time-button"
      label={asOf === null ? 'Look at an earlier state' : 'Back to now'}
      aria-pressed={asOf !== null}
      onClick={onTime}
    >
      <History size={16} />
    </IconButton>
  )
}

/** The toolbar of an earlier state, which can be looked at and not changed. */
function PastToolbar(props: GridToolbarProps) {
  const { contract, view, change } = props
  const isPart = pastListOf(view).conditions.length < view.conditions.length || view.sql !== null
  return (
    <div className="grid-toolbar" role="group" aria-label="Records">
      <div className="grid-toolbar-filter">
        <FilterBar contract={contract} view={view} change={change} />
        <SortChips contract={contract} view={view} change={change} />
        {isPart && <p className="grid-toolbar-note">{PAST_FILTER}</p>}
      </div>
      <div className="grid-toolbar-actions">
        <TimeButton {...props} />
        <ColumnsMenu columns={props.columns} onAdd={null} />
        <Button look="primary" icon={<Plus size={15} />} disabled title={PAST_REASON}>
          Add record
        </Button>
      </div>
    </div>
  )
}

/** Returns the visible fields in the order of the columns. */
export function fieldNames({ layout }: Columns): readonly string[] {
  return layout.columns.map(({ field }) => field.name)
}

/** The actions on checked records. */
function CheckedActions({ checkedIds, onUncheck, mayDelete, onDialog }: GridToolbarProps) {
  return (
    <div className="grid-checked" role="group" aria-label="Selected records">
      <span>{formatCount(checkedIds.size)} selected</span>
      <IconButton
        label={
          mayDelete ? 'Delete the selected records' : 'The contract does not allow you to delete records'
        }
        disabled={!mayDelete}
        onClick={() => onDialog('delete')}
      >
        <Trash2 size={15} />
      </IconButton>
      <IconButton label="Clear selection" onClick={onUncheck}>
        <X size={15} />
      </IconButton>
    </div>
  )
}

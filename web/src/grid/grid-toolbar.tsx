import { Plus, Trash2, X } from 'lucide-react'
import { memo } from 'react'
import type { SheetContract, SheetField } from '../api/contract.ts'
import { FilterBar } from '../filter/filter-bar.tsx'
import type { ViewChange, ViewState } from '../state/view-state.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { ColumnsMenu } from './columns/columns-menu.tsx'
import type { GridDialog } from './grid-dialog.ts'
import './grid-toolbar.css'
import { RunMenu } from './run-menu.tsx'
import { SortChips } from './columns/sort-chips.tsx'
import type { Columns } from './layout/use-columns.ts'

interface GridToolbarProps {
  readonly contract: SheetContract
  readonly view: ViewState
  readonly change: (change: ViewChange) => void
  readonly columns: Columns
  /** The checked records. */
  readonly tickedIds: ReadonlySet<string>
  readonly onUntick: () => void
  readonly mayDelete: boolean
  /** The field of the selected cell. */
  readonly field: SheetField | null
  readonly onDialog: (dialog: GridDialog) => void
}

/** The toolbar: filter, sort order, and actions on records. */
export const GridToolbar = memo(function GridToolbar(props: GridToolbarProps) {
  const { contract, view, change, columns, tickedIds, field, onDialog } = props
  return (
    <div className="grid-toolbar" role="group" aria-label="Records">
      <div className="grid-toolbar-filter">
        <FilterBar contract={contract} view={view} change={change} />
        <SortChips contract={contract} view={view} change={change} />
      </div>
      <div className="grid-toolbar-actions">
        {tickedIds.size > 0 && <TickActions {...props} />}
        <ColumnsMenu columns={columns} />
        <RunMenu contract={contract} field={field} tickedIds={tickedIds} />
        <Button look="primary" icon={<Plus size={15} />} onClick={() => onDialog('new')}>
          Add record
        </Button>
      </div>
    </div>
  )
})

/** The actions on checked records. */
function TickActions({ tickedIds, onUntick, mayDelete, onDialog }: GridToolbarProps) {
  return (
    <div className="grid-ticks" role="group" aria-label="Selected records">
      <span>{tickedIds.size.toLocaleString('en')} selected</span>
      <IconButton
        label={
          mayDelete ? 'Delete the selected records' : 'The contract does not allow you to delete records'
        }
        disabled={!mayDelete}
        onClick={() => onDialog('delete')}
      >
        <Trash2 size={15} />
      </IconButton>
      <IconButton label="Clear selection" onClick={onUntick}>
        <X size={15} />
      </IconButton>
    </div>
  )
}

import type { SheetContract } from '../api/contract.ts'
import { AddColumn } from './add-column.tsx'
import { EditColumn } from './edit-column.tsx'
import type { DrawerState } from './drawer-state.ts'
import type { Ghost } from './ghost.ts'

export interface ColumnDrawerProps {
  readonly contract: SheetContract
  readonly state: DrawerState
  /** The ids of the records that are ticked. */
  readonly ticked: readonly string[]
  readonly onGhost: (ghost: Ghost) => void
  readonly onClose: () => void
  readonly onAdded: (name: string, next: () => void) => void
  /** Called after a field was saved, with its names before and after. */
  readonly onSaved: (from: string, to: string) => void
  readonly onRemoved: (name: string) => void
}

/** The drawer that adds or edits a column. */
export default function ColumnDrawer({
  contract,
  state,
  ticked,
  onSaved,
  onRemoved,
  ...callbacks
}: ColumnDrawerProps) {
  if (state.do === 'add')
    return (
      <AddColumn key={state.key} contract={contract} place={state.place} ticked={ticked} {...callbacks} />
    )
  const field = contract.fieldByName.get(state.field)
  if (field === undefined) return null
  return (
    <EditColumn
      key={field.name}
      contract={contract}
      field={field}
      ticked={ticked}
      onClose={callbacks.onClose}
      onSaved={(name) => onSaved(field.name, name)}
      onRemoved={() => onRemoved(field.name)}
    />
  )
}

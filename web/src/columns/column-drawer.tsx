import { useState } from 'react'
import type { SheetContract } from '../api/contract.ts'
import type { GridRows } from '../derivations/preview/preview-rows.ts'
import { AddColumn } from './add-column.tsx'
import { EditColumn, type EditColumnProps } from './edit-column.tsx'
import type { DrawerState } from './use-drawer.ts'
import type { Ghost } from './ghost.ts'

export interface ColumnDrawerProps {
  readonly contract: SheetContract
  readonly state: DrawerState
  readonly gridRows: GridRows
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
  gridRows,
  onSaved,
  onRemoved,
  ...callbacks
}: ColumnDrawerProps) {
  if (state.do === 'add')
    return (
      <AddColumn key={state.key} contract={contract} place={state.place} gridRows={gridRows} {...callbacks} />
    )
  return (
    <EditKnown
      key={state.field}
      name={state.field}
      contract={contract}
      gridRows={gridRows}
      onClose={callbacks.onClose}
      onSaved={(name) => onSaved(state.field, name)}
      onRemoved={() => onRemoved(state.field)}
    />
  )
}

type EditKnownProps = Omit<EditColumnProps, 'field' | 'isGone'> & { readonly name: string }

/** Edits a field by its name. What was typed stays when another person removes the field or gives it another name. */
function EditKnown({ name, ...props }: EditKnownProps) {
  const present = props.contract.fieldByName.get(name)
  const [known, setKnown] = useState(present)
  if (present !== undefined && present !== known) setKnown(present)
  return known === undefined ? null : (
    <EditColumn {...props} field={present ?? known} isGone={present === undefined} />
  )
}

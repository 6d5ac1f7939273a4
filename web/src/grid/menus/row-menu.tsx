import { DropdownMenu } from 'radix-ui'
import { openRunDialog } from '../../runs/dialogs/run-dialog.tsx'
import { retry } from '../../runs/dialogs/retry-cell.ts'
import { useActor } from '../../state/actor.ts'
import type { PanelTab } from '../../state/view-state.ts'
import { MenuItem } from '../../ui/menu-item.tsx'
import { showError } from '../../ui/toasts.tsx'
import { textOfRecords } from '../interaction/cell-actions.ts'
import type { Point } from '../interaction/place-at.ts'
import { MenuAt } from './menu-at.tsx'
import { RecordItems, recordText, type RecordItemsProps } from './record-items.tsx'

interface RowMenuProps extends RecordItemsProps {
  readonly at: Point
  readonly onClose: () => void
  /** Adds a record. */
  readonly onAdd: () => void
}

/** The menu of whole records: of a row, of the selected rows, or of the checked records. */
export function RowMenu({ at, onClose, onAdd, ...props }: RowMenuProps) {
  const { model, records } = props
  const { context, editing, contract } = model
  const [actor] = useActor()
  const what = recordText(records.count)
  const isReadOnly = editing.refusal !== null
  const show = (tab: PanelTab): void => {
    const field = model.selecting.cell?.field ?? contract.fields[0]?.name
    if (records.id !== null && field !== undefined)
      model.change({ panel: true, tab, cell: { recordId: records.id, field } })
  }
  const copy = async (): Promise<void> =>
    navigator.clipboard.writeText(textOfRecords(context, await records.read()))
  const compute = async (): Promise<void> =>
    openRunDialog({ record_ids: [...(await records.ids())] }, `Compute ${what}`)
  const retryFailed = async (): Promise<void> =>
    retry({ record_ids: [...(await records.ids())] }, `Retry failed cells of ${what}`, actor)
  return (
    <MenuAt at={at} label="Selected records" model={model} onClose={onClose}>
      {records.count === 1 && (
        <>
          <MenuItem isDisabled={records.id === null} onSelect={() => show('record')}>
            Open record
          </MenuItem>
          <MenuItem isDisabled={records.id === null} onSelect={() => show('history')}>
            Show history
          </MenuItem>
          <DropdownMenu.Separator className="menu-line" />
        </>
      )}
      {contract.fields.some(({ derived }) => derived !== null) && (
        <>
          <MenuItem isDisabled={isReadOnly} onSelect={() => void compute().catch(showError)}>
            Compute {what}…
          </MenuItem>
          <MenuItem
            isDisabled={isReadOnly || !records.mayHaveFailed}
            onSelect={() => void retryFailed().catch(showError)}
          >
            Retry failed cells
          </MenuItem>
          <DropdownMenu.Separator className="menu-line" />
        </>
      )}
      <MenuItem keys="Shift+Enter" isDisabled={isReadOnly} onSelect={onAdd}>
        Insert record
      </MenuItem>
      <MenuItem onSelect={() => void copy().catch(showError)}>Copy {what}</MenuItem>
      <RecordItems {...props} />
    </MenuAt>
  )
}

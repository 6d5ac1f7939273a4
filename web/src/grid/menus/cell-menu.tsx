import { DropdownMenu } from 'radix-ui'
import { useLocation } from 'wouter'
import { openRunDialog } from '../../runs/dialogs/run-dialog.tsx'
import { countOf } from '../../ui/format.ts'
import { MenuItem } from '../../ui/menu-item.tsx'
import { showError } from '../../ui/toasts.tsx'
import { clearRange, fieldsOf, recordsOf, textOfRange } from '../interaction/cell-actions.ts'
import { fillDown } from '../interaction/fill-cells.ts'
import type { Point } from '../interaction/place-at.ts'
import type { Editor } from '../interaction/use-editor.ts'
import type { GridModel } from '../interaction/use-grid.ts'
import { sizeOf, type CellRange } from '../selection/cell-range.ts'
import { MenuAt } from './menu-at.tsx'
import { RecordItems } from './record-items.tsx'
import { recordsOfRange } from './menu-records.ts'

interface CellMenuProps {
  readonly model: GridModel
  readonly editor: Editor
  readonly range: CellRange
  readonly at: Point
  readonly onClose: () => void
  /** Pastes a text into the selected cells. */
  readonly onPaste: (text: string) => void
  /** Asks whether to delete records. */
  readonly onDelete: (ids: readonly string[]) => void
}

/** The menu of the selected cells and their records. */
export function CellMenu({ model, editor, range, at, onClose, onPaste, onDelete }: CellMenuProps) {
  return (
    <MenuAt at={at} label="Selected cells" model={model} onClose={onClose}>
      <CellItems model={model} editor={editor} range={range} onPaste={onPaste} />
      <DropdownMenu.Separator className="menu-line" />
      <RecordItems model={model} records={recordsOfRange(model.context, range)} onDelete={onDelete} />
    </MenuAt>
  )
}

type CellItemsProps = Pick<CellMenuProps, 'model' | 'editor' | 'range' | 'onPaste'>

function CellItems({ model, editor, range, onPaste }: CellItemsProps) {
  const { context, editing, selecting, change } = model
  const fields = fieldsOf(context.layout, range)
  const mayWrite = fields.some(editing.mayWrite)
  const derived = fields.filter((field) => field.derived !== null)
  const many = sizeOf(range) > 1
  const [, navigate] = useLocation()
  const { cell } = selecting
  const proposed = cell === null ? undefined : model.rows.proposedOf(cell.recordId)?.[cell.field]
  const copy = async (): Promise<void> => navigator.clipboard.writeText(await textOfRange(context, range))
  const showPanel = (): void => {
    if (selecting.cell !== null) change({ panel: true, tab: 'cell', cell: selecting.cell })
  }
  const compute = async (): Promise<void> => {
    const records = await recordsOf(context, range)
    const order = {
      targets: derived.map(({ name }) => name),
      record_ids: records.map(({ id }) => String(id)),
    }
    openRunDialog(order, `Compute ${countOf(derived.length * records.length, 'cell')}`)
  }
  return (
    <>
      <MenuItem keys="Enter" isDisabled={!mayWrite} onSelect={() => setTimeout(() => editor.begin(null))}>
        {many ? 'Edit cells' : 'Edit'}
      </MenuItem>
      <MenuItem
        keys="Ctrl+X"
        isDisabled={!mayWrite}
        onSelect={() => {
          copy()
            .then(() => clearRange(context, range))
            .catch(showError)
        }}
      >
        Cut
      </MenuItem>
      <MenuItem keys="Ctrl+C" onSelect={() => void copy().catch(showError)}>
        Copy
      </MenuItem>
      <MenuItem
        keys="Ctrl+V"
        isDisabled={editing.refusal !== null}
        onSelect={() => {
          navigator.clipboard.readText().then(onPaste, () => {
            showError(new Error('The browser does not let pages read the clipboard here: press Ctrl+V'))
          })
        }}
      >
        Paste
      </MenuItem>
      <MenuItem
        keys="Ctrl+D"
        isDisabled={!mayWrite}
        onSelect={() => void fillDown(context, range).catch(showError)}
      >
        Fill down
      </MenuItem>
      <MenuItem
        keys="Delete"
        isDisabled={!mayWrite}
        onSelect={() => void clearRange(context, range).catch(showError)}
      >
        Clear
      </MenuItem>
      <DropdownMenu.Separator className="menu-line" />
      <MenuItem onSelect={showPanel}>Show provenance</MenuItem>
      {proposed !== undefined && (
        <MenuItem onSelect={() => navigate(`/proposals/${proposed.proposal}`)}>
          Show proposal {proposed.proposal}
        </MenuItem>
      )}
      {derived.length > 0 && editing.refusal === null && (
        <MenuItem onSelect={() => void compute().catch(showError)}>Compute these cells…</MenuItem>
      )}
    </>
  )
}

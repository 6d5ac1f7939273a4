import { DropdownMenu } from 'radix-ui'
import { createPortal } from 'react-dom'
import { useLocation } from 'wouter'
import { openRunDialog } from '../runs/dialogs/run-dialog.tsx'
import { countOf } from '../ui/format.ts'
import { MenuItem } from '../ui/menu-item.tsx'
import { showError } from '../ui/toasts.tsx'
import { clearRange, fieldsOf, recordsOf, textOfRange } from './interaction/cell-actions.ts'
import { fillDown } from './interaction/fill-cells.ts'
import type { Point } from './interaction/place-at.ts'
import type { Editor } from './interaction/use-editor.ts'
import type { GridModel } from './interaction/use-grid.ts'
import { HEAD_ROW, rangeOf, sizeOf, type CellRange } from './selection/cell-range.ts'

interface CellMenuProps {
  readonly model: GridModel
  readonly editor: Editor
  readonly at: Point
  readonly onClose: () => void
  /** Pastes a text into the selected cells. */
  readonly onPaste: (text: string) => void
  /** Asks whether to delete records. */
  readonly onDelete: (ids: readonly string[]) => void
}

/** The menu of the selected cells and their records. */
export function CellMenu(props: CellMenuProps) {
  const { model, at, onClose } = props
  const { selection } = model.selecting
  if (selection === null || selection.focus.row === HEAD_ROW) return null
  const range = rangeOf(selection)
  return (
    <DropdownMenu.Root open onOpenChange={(isOpen) => isOpen || onClose()} modal={false}>
      {/* Outside of the grid, whose children are rows. */}
      {createPortal(
        <DropdownMenu.Trigger asChild>
          <button
            type="button"
            className="cell-menu-place"
            tabIndex={-1}
            aria-hidden="true"
            aria-label="Selected cells"
            style={{ left: at.x, top: at.y }}
          />
        </DropdownMenu.Trigger>,
        document.body,
      )}
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          className="menu"
          align="start"
          collisionPadding={8}
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            if (document.activeElement === document.body)
              model.scroller.element?.focus({ preventScroll: true })
          }}
        >
          <CellItems {...props} range={range} />
          <DropdownMenu.Separator className="menu-line" />
          <RecordItems {...props} range={range} />
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

type ItemsProps = CellMenuProps & { readonly range: CellRange }

function CellItems({ model, editor, range, onPaste }: ItemsProps) {
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
    if (selecting.cell !== null) change({ panel: true, cell: selecting.cell })
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

function RecordItems({ model, range, onDelete }: ItemsProps) {
  const { context, editing, contract, selecting, checked } = model
  const count = range.bottom - range.top + 1
  const records = countOf(count, 'record')
  const ids = async (): Promise<readonly string[]> =>
    (await recordsOf(context, range)).map(({ id }) => String(id))
  const duplicate = async (): Promise<void> => {
    const copied = contract.fields.filter((field) => editing.mayWrite(field) && field.derived === null)
    const originals = await recordsOf(context, range)
    const made = await editing.create(
      originals.map((record) => Object.fromEntries(copied.map(({ name }) => [name, record[name] ?? null]))),
    )
    const [first] = made
    if (first !== undefined) selecting.reveal({ recordId: first, field: contract.fields[0]?.name ?? 'id' })
  }
  return (
    <>
      <MenuItem onSelect={() => void ids().then(checked.add, showError)}>Select {records}</MenuItem>
      <MenuItem isDisabled={editing.refusal !== null} onSelect={() => void duplicate().catch(showError)}>
        Duplicate {records}
      </MenuItem>
      <MenuItem isDisabled={!editing.mayDelete} onSelect={() => void ids().then(onDelete, showError)}>
        Delete {records}…
      </MenuItem>
    </>
  )
}

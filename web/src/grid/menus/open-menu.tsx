import type { Editor } from '../interaction/use-editor.ts'
import type { GridModel } from '../interaction/use-grid.ts'
import { HEAD_ROW, rangeOf } from '../selection/cell-range.ts'
import { CellMenu } from './cell-menu.tsx'
import { recordsOfRange, recordsWithIds } from './menu-records.ts'
import { RowMenu } from './row-menu.tsx'
import type { AskedMenu } from './use-context-menu.ts'

interface OpenMenuProps {
  readonly asked: AskedMenu
  readonly model: GridModel
  readonly editor: Editor
  readonly onClose: () => void
  /** Pastes a text into the selected cells. */
  readonly onPaste: (text: string) => void
  /** Asks whether to delete records. */
  readonly onDelete: (ids: readonly string[]) => void
  /** Adds a record. */
  readonly onAdd: () => void
}

/** The context menu that is open. */
export function OpenMenu({ asked: { at, of }, editor, onPaste, onAdd, ...props }: OpenMenuProps) {
  const { context, checked, selecting } = props.model
  if (of === 'checked')
    return <RowMenu {...props} at={at} records={recordsWithIds(context, checked.ids)} onAdd={onAdd} />
  const { selection } = selecting
  if (selection === null || selection.focus.row === HEAD_ROW) return null
  const range = rangeOf(selection)
  if (of === 'rows')
    return <RowMenu {...props} at={at} records={recordsOfRange(context, range)} onAdd={onAdd} />
  return <CellMenu {...props} at={at} range={range} editor={editor} onPaste={onPaste} />
}

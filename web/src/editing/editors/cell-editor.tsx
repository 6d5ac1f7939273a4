import type { SheetField } from '../../api/contract.ts'
import { ChipsEditor } from './chips-editor.tsx'
import type { CellEditorProps } from './editor-session.ts'
import { MenuEditor } from './menu-editor.tsx'
import { hasPlainItems } from '../../values/value-text.ts'
import { TextEditor } from './text-editor.tsx'

/**
 * Edits a cell in place. Enter commits and moves down, Tab commits and moves sideways, Escape cancels, losing the
 * focus commits.
 */
export function CellEditor(props: CellEditorProps) {
  const Editor = editorOf(props.field, props.value)
  return <Editor {...props} />
}

function editorOf(field: SheetField, value: unknown): typeof TextEditor {
  const { type, values } = field
  if (type === 'boolean' || (values !== null && type !== 'array' && type !== 'object')) return MenuEditor
  return type === 'array' && hasChips(field, value) ? ChipsEditor : TextEditor
}

/** Whether each item can be shown and typed as a chip; other arrays are edited as JSON. */
function hasChips({ itemType }: SheetField, value: unknown): boolean {
  if (!hasPlainItems(itemType)) return false
  const kind = itemType === 'string' ? 'string' : 'number'
  return (
    value === null ||
    value === undefined ||
    (Array.isArray(value) && value.every((item) => typeof item === kind))
  )
}

import type { SheetField } from '../../api/contract.ts'
import { ChipsEditor } from './chips-editor.tsx'
import type { CellEditorProps } from './editor-session.ts'
import { MenuEditor } from './menu-editor.tsx'
import { TextEditor } from './text-editor.tsx'

/**
 * Edits a cell in place: it goes into the cell, and lies over it. Enter commits and goes down, Tab to the side, Escape
 * cancels, leaving commits.
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

/** Only what each chip can show and be typed as; everything else is edited as JSON. */
function hasChips({ itemType }: SheetField, value: unknown): boolean {
  if (itemType !== 'string' && itemType !== 'integer' && itemType !== 'number') return false
  const kind = itemType === 'string' ? 'string' : 'number'
  return (
    value === null ||
    value === undefined ||
    (Array.isArray(value) && value.every((item) => typeof item === kind))
  )
}

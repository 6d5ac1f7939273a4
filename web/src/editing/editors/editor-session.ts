import { useRef, type KeyboardEvent } from 'react'
import type { SheetField } from '../../api/contract.ts'

/** The move of the selection after an edit; `fill` writes the value to all selected cells. */
export type Move = 'down' | 'right' | 'left' | 'none' | 'fill'

export interface CellEditorProps {
  readonly field: SheetField
  readonly value: unknown
  /** The typed or composed text that replaces the value; null to edit the present value. */
  readonly typed: string | null
  /** `move` is where the selection moves afterwards. */
  readonly onCommit: (value: unknown, move: Move) => void
  readonly onCancel: () => void
}

export interface EditorSession {
  commit(value: unknown, move: Move): void
  cancel(): void
}

/** Returns callbacks of which only the first call counts: losing the focus on closing must not commit again. */
export function useEditorSession({ onCommit, onCancel }: CellEditorProps): EditorSession {
  const isOver = useRef(false)
  const once = (callBack: () => void): void => {
    if (isOver.current) return
    isOver.current = true
    callBack()
  }
  return {
    commit: (value, move) => once(() => onCommit(value, move)),
    cancel: () => once(onCancel),
  }
}

/** Returns the move of a key that ends editing; null for other keys. */
export function moveOf({ key, shiftKey, altKey, ctrlKey, metaKey }: KeyboardEvent): Move | null {
  if (key === 'Tab') return shiftKey ? 'left' : 'right'
  if (key !== 'Enter' || shiftKey || altKey) return null
  return ctrlKey || metaKey ? 'fill' : 'down'
}

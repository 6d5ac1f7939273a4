import { useRef, type KeyboardEvent } from 'react'
import type { SheetField } from '../../api/contract.ts'

export type Move = 'down' | 'right' | 'left' | 'none'

export interface CellEditorProps {
  readonly field: SheetField
  readonly value: unknown
  /** The character that was typed to begin with, which replaces the value; null edits what is there. */
  readonly typed: string | null
  /** `move`: where the selection goes afterwards. */
  readonly onCommit: (value: unknown, move: Move) => void
  readonly onCancel: () => void
}

export interface EditorSession {
  commit(value: unknown, move: Move): void
  cancel(): void
}

/** Calls back once and no more: leaving an editor that is being closed must not commit it again. */
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

/** Where a key that ends editing goes; null for all others. */
export function moveOf({ key, shiftKey, altKey, ctrlKey, metaKey }: KeyboardEvent): Move | null {
  if (key === 'Tab') return shiftKey ? 'left' : 'right'
  if (key !== 'Enter' || shiftKey || altKey) return null
  return ctrlKey || metaKey ? 'none' : 'down'
}

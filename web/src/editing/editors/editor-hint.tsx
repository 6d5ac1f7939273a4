import type { ReactNode } from 'react'

interface EditorHintProps {
  readonly kind?: 'hint' | 'fault'
  readonly children: ReactNode
}

/** A line below an editor: what is wrong with what is in it, or which keys do what. */
export function EditorHint({ kind = 'hint', children }: EditorHintProps) {
  return (
    <p className={`editor-hint ${kind}`} role="status">
      {children}
    </p>
  )
}

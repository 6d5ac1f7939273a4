import type { ReactNode } from 'react'

interface EditorHintProps {
  readonly kind?: 'hint' | 'error'
  readonly children: ReactNode
}

/** A line below an editor with an error or the available keys. */
export function EditorHint({ kind = 'hint', children }: EditorHintProps) {
  return (
    <p className={`editor-hint ${kind}`} role="status">
      {children}
    </p>
  )
}

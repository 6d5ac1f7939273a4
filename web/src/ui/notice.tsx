import type { ReactNode } from 'react'
import './notice.css'

interface NoticeProps {
  readonly title: string
  /** The explanation. */
  readonly children?: ReactNode
  readonly actions?: ReactNode
  readonly kind?: 'empty' | 'error'
}

/** Fills an empty area with an explanation and actions. */
export function Notice({ title, children, actions, kind = 'empty' }: NoticeProps) {
  return (
    <div className={`notice ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      <h2>{title}</h2>
      {children !== undefined && <div className="notice-text">{children}</div>}
      {actions !== undefined && <div className="notice-actions">{actions}</div>}
    </div>
  )
}

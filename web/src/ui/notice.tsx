import type { ReactNode } from 'react'
import './notice.css'

interface NoticeProps {
  readonly title: string
  /** What is wrong, or what there is to do. */
  readonly children?: ReactNode
  /** Buttons. */
  readonly actions?: ReactNode
  readonly kind?: 'empty' | 'error'
}

/** Fills a place that has nothing to show: why, and what to do about it. */
export function Notice({ title, children, actions, kind = 'empty' }: NoticeProps) {
  return (
    <div className={`notice ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      <h2>{title}</h2>
      {children !== undefined && <div className="notice-text">{children}</div>}
      {actions !== undefined && <div className="notice-actions">{actions}</div>}
    </div>
  )
}

import type { ReactNode } from 'react'
import './notice.css'

interface NoticeProps {
  readonly title: string
  /** The explanation. */
  readonly children?: ReactNode
  readonly actions?: ReactNode
  readonly kind?: 'empty' | 'error'
  /** Whether rows are drawn faintly, where a list will be. */
  readonly hasGhosts?: boolean
}

/** The widths of the parts of a drawn row, in percent. */
const GHOST_WIDTHS = [14, 34, 22, 12]
const GHOST_ROWS = 4

/** Fills an empty area with an explanation and actions. */
export function Notice({ title, children, actions, kind = 'empty', hasGhosts = false }: NoticeProps) {
  return (
    <div className={`notice ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      {hasGhosts && (
        <div className="ghost-rows" aria-hidden="true">
          {Array.from({ length: GHOST_ROWS }, (_, row) => (
            <div key={row}>
              {GHOST_WIDTHS.map((width) => (
                <span key={width} style={{ width: `${width}%` }} />
              ))}
            </div>
          ))}
        </div>
      )}
      <h2>{title}</h2>
      {children !== undefined && <div className="notice-text">{children}</div>}
      {actions !== undefined && <div className="notice-actions">{actions}</div>}
    </div>
  )
}

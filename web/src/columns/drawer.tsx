import { X } from 'lucide-react'
import { useId, type KeyboardEvent, type ReactNode } from 'react'
import { IconButton } from '../ui/button.tsx'
import './drawer.css'

interface DrawerProps {
  readonly title: string
  readonly isWide?: boolean
  readonly onClose: () => void
  readonly children: ReactNode
  /** The part that stays visible above the buttons. */
  readonly status: ReactNode
  /** The buttons, the main one last. */
  readonly actions: ReactNode
}

/** The panel at the right of the grid, below it on narrow screens. Escape closes it. */
export function Drawer({ title, isWide = false, onClose, children, status, actions }: DrawerProps) {
  const heading = useId()
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || event.defaultPrevented) return
    event.stopPropagation()
    onClose()
  }
  return (
    <aside
      className={isWide ? 'column-drawer wide' : 'column-drawer'}
      aria-labelledby={heading}
      onKeyDown={onKeyDown}
    >
      <header>
        <h2 id={heading}>{title}</h2>
        <IconButton label="Close" onClick={onClose}>
          <X size={16} />
        </IconButton>
      </header>
      <div className="column-drawer-body">{children}</div>
      <div className="column-drawer-status">{status}</div>
      <footer>{actions}</footer>
    </aside>
  )
}

import { X } from 'lucide-react'
import { useId, type KeyboardEvent, type ReactNode } from 'react'
import { Button, IconButton } from '../ui/button.tsx'
import { useUnsaved, whenSaved } from '../ui/unsaved.tsx'
import '../ui/side-panel.css'
import './drawer.css'

interface DrawerProps {
  readonly title: string
  readonly isWide?: boolean
  /** Whether it has changes that are not saved. */
  readonly isChanged: boolean
  /** Called for the changes that the person throws away. */
  readonly onDiscard?: () => void
  readonly onClose: () => void
  readonly children: ReactNode
  /** The part that stays visible above the buttons. */
  readonly status: ReactNode
  /** The buttons after *Cancel*, the main one last. */
  readonly actions: ReactNode
  /** The button before *Cancel*. */
  readonly firstAction?: ReactNode
}

/** The panel at the right of the grid, below it on narrow screens. Escape closes it, and asks before changes are lost. */
export function Drawer(props: DrawerProps) {
  const {
    title,
    isWide = false,
    isChanged,
    onDiscard,
    onClose,
    children,
    status,
    firstAction,
    actions,
  } = props
  const heading = useId()
  useUnsaved(isChanged, onDiscard)
  const close = (): void => whenSaved(onClose)
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || event.defaultPrevented) return
    event.stopPropagation()
    close()
  }
  return (
    <aside
      className={isWide ? 'side-panel column-drawer wide' : 'side-panel column-drawer'}
      aria-labelledby={heading}
      onKeyDown={onKeyDown}
    >
      <header className="side-panel-head">
        <h2 id={heading}>{title}</h2>
        <IconButton label="Close" onClick={close}>
          <X size={16} />
        </IconButton>
      </header>
      <div className="column-drawer-body">{children}</div>
      <div className="column-drawer-status">{status}</div>
      <footer>
        {firstAction}
        <Button onClick={close}>Cancel</Button>
        {actions}
      </footer>
    </aside>
  )
}

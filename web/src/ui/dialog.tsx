import { X } from 'lucide-react'
import { Dialog as Parts } from 'radix-ui'
import { useRef, type ReactNode } from 'react'
import { IconButton } from './button.tsx'
import './dialog.css'

interface DialogProps {
  readonly title: string
  readonly className?: string
  /** A sentence below the title. */
  readonly description?: string
  readonly open: boolean
  readonly onClose: () => void
  readonly children?: ReactNode
  /** The buttons, the main one last. */
  readonly actions?: ReactNode
}

/** A modal dialog. Closing it returns the focus to where it was, unless it has gone elsewhere. */
export function Dialog({
  title,
  className = '',
  description,
  open,
  onClose,
  children,
  actions,
}: DialogProps) {
  const before = useRef<Element | null>(null)
  return (
    <Parts.Root open={open} onOpenChange={(isOpen) => isOpen || onClose()}>
      <Parts.Portal>
        <Parts.Overlay className="dialog-overlay" />
        <Parts.Content
          className={`dialog ${className}`}
          onOpenAutoFocus={() => (before.current = document.activeElement)}
          onCloseAutoFocus={() => {
            const isLost = document.activeElement === null || document.activeElement === document.body
            if (isLost && before.current instanceof HTMLElement) before.current.focus({ preventScroll: true })
          }}
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
        >
          <header className="dialog-head">
            <Parts.Title>{title}</Parts.Title>
            <Parts.Close asChild>
              <IconButton label="Close">
                <X size={16} />
              </IconButton>
            </Parts.Close>
          </header>
          {description !== undefined && <Parts.Description>{description}</Parts.Description>}
          {children !== undefined && <div className="dialog-body">{children}</div>}
          {actions !== undefined && <footer className="dialog-actions">{actions}</footer>}
        </Parts.Content>
      </Parts.Portal>
    </Parts.Root>
  )
}

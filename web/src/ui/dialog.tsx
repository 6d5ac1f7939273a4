import { X } from 'lucide-react'
import { Dialog as Parts } from 'radix-ui'
import type { ReactNode } from 'react'
import { IconButton } from './button.tsx'
import './dialog.css'

interface DialogProps {
  readonly title: string
  /** A sentence below the title. */
  readonly description?: string
  readonly open: boolean
  readonly onClose: () => void
  readonly children: ReactNode
  /** The buttons, the main one last. */
  readonly actions?: ReactNode
}

/** A modal dialog. */
export function Dialog({ title, description, open, onClose, children, actions }: DialogProps) {
  return (
    <Parts.Root open={open} onOpenChange={(isOpen) => isOpen || onClose()}>
      <Parts.Portal>
        <Parts.Overlay className="dialog-overlay" />
        <Parts.Content
          className="dialog"
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
          <div className="dialog-body">{children}</div>
          {actions !== undefined && <footer className="dialog-actions">{actions}</footer>}
        </Parts.Content>
      </Parts.Portal>
    </Parts.Root>
  )
}

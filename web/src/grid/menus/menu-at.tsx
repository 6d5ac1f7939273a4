import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'
import { createPortal } from 'react-dom'
import { CHOOSES_BY_MAIN_BUTTON } from '../../ui/menu-item.tsx'
import type { Point } from '../interaction/place-at.ts'
import type { GridModel } from '../interaction/use-grid.ts'

interface MenuAtProps {
  readonly at: Point
  /** The name of what the menu is about. */
  readonly label: string
  readonly model: GridModel
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A menu at a point of the grid, which has the focus again when it closes. */
export function MenuAt({ at, label, model, onClose, children }: MenuAtProps) {
  return (
    <DropdownMenu.Root open onOpenChange={(isOpen) => isOpen || onClose()} modal={false}>
      {/* Outside of the grid, whose children are rows. */}
      {createPortal(
        <DropdownMenu.Trigger asChild>
          <button
            type="button"
            className="cell-menu-place"
            tabIndex={-1}
            aria-hidden="true"
            aria-label={label}
            style={{ left: at.x, top: at.y }}
          />
        </DropdownMenu.Trigger>,
        document.body,
      )}
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          {...CHOOSES_BY_MAIN_BUTTON}
          className="menu"
          align="start"
          collisionPadding={8}
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            if (document.activeElement === document.body)
              model.scroller.element?.focus({ preventScroll: true })
          }}
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

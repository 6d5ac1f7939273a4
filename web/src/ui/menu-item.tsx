import { DropdownMenu } from 'radix-ui'
import type { PointerEvent, ReactNode } from 'react'
import './menu.css'

interface MenuItemProps {
  readonly children: ReactNode
  readonly onSelect: () => void
  readonly isDisabled?: boolean
  /** Whether the menu stays open, for actions that are repeated. */
  readonly stays?: boolean
  /** The keys that do the same. */
  readonly keys?: string
}

/**
 * Props of a menu that a right click may open: the menu can open below the pointer, and the release of that button would choose the
 * item there, as the end of a press with the main button does.
 */
export const CHOOSES_BY_MAIN_BUTTON = {
  onPointerUpCapture: (event: PointerEvent): void => {
    if (event.button !== 0) event.stopPropagation()
  },
}

/** An item of a menu. */
export function MenuItem({ children, onSelect, isDisabled = false, stays = false, keys }: MenuItemProps) {
  return (
    <DropdownMenu.Item
      className="menu-item"
      disabled={isDisabled}
      onSelect={(event) => {
        if (stays) event.preventDefault()
        onSelect()
      }}
    >
      {children}
      {keys !== undefined && <kbd className="menu-keys">{keys}</kbd>}
    </DropdownMenu.Item>
  )
}

import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'
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

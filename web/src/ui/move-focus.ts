import type { KeyboardEvent } from 'react'

/** Moves the focus by arrow keys from a link in an item of a list to the link in the next or previous item. */
export function moveFocus(event: KeyboardEvent<HTMLAnchorElement>): void {
  const item = event.currentTarget.closest('li, tr')
  const next =
    event.key === 'ArrowDown'
      ? item?.nextElementSibling
      : event.key === 'ArrowUp'
        ? item?.previousElementSibling
        : null
  const link = next?.querySelector('a')
  if (link === null || link === undefined) return
  event.preventDefault()
  link.focus()
}

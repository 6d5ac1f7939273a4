import { useEffect, useRef } from 'react'

/** Calls back on `/`, unless it is typed into an input. */
export function useSlashKey(onSlash: () => void): void {
  const latest = useRef(onSlash)
  useEffect(() => {
    latest.current = onSlash
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey)
        return
      if (takesText(event.target) || document.querySelector('[role=dialog], [role=alertdialog]') !== null)
        return
      event.preventDefault()
      latest.current()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

function takesText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement) || target.closest('.grid-input') !== null) return false
  return target.isContentEditable || target.matches('input, textarea, select')
}

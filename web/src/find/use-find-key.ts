import { useEffect, useRef } from 'react'

/** Calls back on Ctrl+F and Cmd+F, unless a dialog or an editor of code has the focus. */
export function useFindKey(onFind: () => void): void {
  const latest = useRef(onFind)
  useEffect(() => {
    latest.current = onFind
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isFind = event.key.toLowerCase() === 'f' && (event.ctrlKey || event.metaKey)
      if (!isFind || event.shiftKey || event.altKey || event.defaultPrevented) return
      const { target } = event
      if (
        target instanceof Element &&
        target.closest('[role=dialog], [role=alertdialog], .cm-editor') !== null
      )
        return
      event.preventDefault()
      latest.current()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

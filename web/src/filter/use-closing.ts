import { useRef, type RefObject } from 'react'

/** Called when what a form stands in is about to be closed. */
export type Closing = (by: 'escape' | 'outside') => void

interface ClosingForm {
  /** For the form: what it does then. */
  readonly closing: RefObject<Closing | null>
  readonly onEscapeKeyDown: () => void
  /** To be called when the popover is closed in any way but by the form itself. */
  onClose(): void
}

/** Tells the form in a popover how it was closed: by Escape, which gives up what was typed, or otherwise. */
export function useClosing(): ClosingForm {
  const closing = useRef<Closing>(null)
  const isEscape = useRef(false)
  return {
    closing,
    onEscapeKeyDown: () => {
      isEscape.current = true
    },
    onClose: () => {
      closing.current?.(isEscape.current ? 'escape' : 'outside')
      isEscape.current = false
    },
  }
}

import { useRef, type RefObject } from 'react'

/** Called when the popover of a form is about to close. */
export type Closing = (by: 'escape' | 'outside') => void

interface ClosingForm {
  /** Set by the form. */
  readonly closing: RefObject<Closing | null>
  readonly onEscapeKeyDown: () => void
  /** Call when the popover closes other than by the form. */
  onClose(): void
}

/** Tells a form in a popover whether it was closed by Escape, which discards the input, or otherwise. */
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

import {
  useLayoutEffect,
  useRef,
  type FocusEvent,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  type SyntheticEvent,
} from 'react'
import { createPortal } from 'react-dom'
import './editor.css'

interface EditorOverlayProps {
  /** What is edited. */
  readonly label: string
  /** `wide`: gives long texts room. */
  readonly wide?: boolean
  readonly onKeyDown: (event: KeyboardEvent) => void
  /** The focus has left for something else on the page. */
  readonly onLeave: () => void
  readonly children: ReactNode
}

const MARGIN = 8

/**
 * Lies over the element that it is put into, and may grow beyond it: over everything else, since cells cut off what
 * does not fit. What happens in it is none of the grid's business.
 */
export function EditorOverlay({ label, wide = false, onKeyDown, onLeave, children }: EditorOverlayProps) {
  const place = useRef<HTMLSpanElement>(null)
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const cell = place.current?.parentElement
    const editor = box.current
    return cell && editor ? keepOver(cell, editor) : undefined
  }, [])
  usePressElsewhere(box, onLeave)
  const leave = (event: FocusEvent): void => {
    // When the whole window loses the focus, its element has not.
    if (event.currentTarget.contains(event.relatedTarget) || document.activeElement === event.target) return
    onLeave()
  }
  return (
    <>
      <span ref={place} hidden />
      {createPortal(
        <div
          ref={box}
          className={wide ? 'editor wide' : 'editor'}
          role="group"
          aria-label={label}
          onBlur={leave}
          onKeyDown={(event) => {
            // The command menu can be opened from everywhere.
            if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) return
            event.stopPropagation()
            if (!event.nativeEvent.isComposing) onKeyDown(event)
          }}
          onPointerDown={stop}
          onMouseDown={stop}
          onClick={stop}
          onDoubleClick={stop}
          onCopy={stop}
          onCut={stop}
          onPaste={stop}
          onContextMenu={stop}
        >
          {children}
        </div>,
        document.body,
      )}
    </>
  )
}

/**
 * Hears of a press outside before anybody else: what is pressed may close the editor, and an element that is taken away
 * is never left.
 */
function usePressElsewhere(box: RefObject<HTMLElement | null>, onPress: () => void): void {
  const latest = useRef(onPress)
  useLayoutEffect(() => {
    latest.current = onPress
  })
  useLayoutEffect(() => {
    const onPointerDown = (event: PointerEvent): void => {
      const { target } = event
      const isInside = target instanceof Node && box.current?.contains(target) === true
      if (!isInside && !isOnScrollbar(event)) latest.current()
    }
    addEventListener('pointerdown', onPointerDown, { capture: true })
    return () => removeEventListener('pointerdown', onPointerDown, { capture: true })
  }, [box])
}

/** Scrolling is not leaving. */
function isOnScrollbar({ target, offsetX, offsetY }: PointerEvent): boolean {
  return (
    target instanceof HTMLElement &&
    (offsetX > target.clientWidth || offsetY > target.clientHeight) &&
    target.scrollHeight > target.clientHeight
  )
}

/** Events of a portal reach those in whose tree it is. */
function stop(event: SyntheticEvent): void {
  event.stopPropagation()
}

function keepOver(cell: HTMLElement, editor: HTMLElement): () => void {
  const put = (): void => putOver(cell.getBoundingClientRect(), editor)
  put()
  const sizes = new ResizeObserver(put)
  sizes.observe(editor)
  sizes.observe(cell)
  addEventListener('scroll', put, { capture: true, passive: true })
  addEventListener('resize', put)
  return () => {
    sizes.disconnect()
    removeEventListener('scroll', put, { capture: true })
    removeEventListener('resize', put)
  }
}

/** Grows downwards, or upwards where there is more room. */
function putOver(cell: DOMRect, editor: HTMLElement): void {
  const { style } = editor
  style.setProperty('--cell-width', `${cell.width}px`)
  style.setProperty('--cell-height', `${cell.height}px`)
  const roomBelow = innerHeight - cell.top - MARGIN
  const isUp = editor.offsetHeight > roomBelow && cell.bottom > roomBelow
  editor.classList.toggle('up', isUp)
  style.top = isUp ? 'auto' : `${cell.top}px`
  style.bottom = isUp ? `${innerHeight - cell.bottom}px` : 'auto'
  style.left = `${Math.max(MARGIN, Math.min(cell.left, innerWidth - editor.offsetWidth - MARGIN))}px`
}

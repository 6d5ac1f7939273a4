import {
  createContext,
  use,
  useEffect,
  useLayoutEffect,
  useRef,
  type FocusEvent,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  type SyntheticEvent,
} from 'react'
import { createPortal } from 'react-dom'
import { formatCount } from '../../ui/format.ts'
import { isOfInputMethod } from './input-method.ts'
import { keepPage } from '../../ui/unsaved.tsx'
import { useLatest } from '../../ui/use-latest.ts'
import { EditorHint } from './editor-hint.tsx'
import './editor.css'

/** The number of selected cells, which Ctrl+Enter sets. */
export const SelectedCells = createContext(1)

interface EditorOverlayProps {
  /** The accessible name. */
  readonly label: string
  /** `wide` gives long texts more space. */
  readonly wide?: boolean
  /** Whether something was typed or chosen that closing the page would lose. */
  readonly isChanged: boolean
  readonly onKeyDown: (event: KeyboardEvent) => void
  /** Called when another element of the page gets the focus, and when the editor is removed, as by *Back*. */
  readonly onLeave: () => void
  readonly children: ReactNode
}

const MARGIN = 8

/**
 * Covers its parent element and may grow beyond it, in a portal because cells clip their content. Events do not reach
 * the grid.
 */
export function EditorOverlay(props: EditorOverlayProps) {
  const { label, wide = false, isChanged, onKeyDown, onLeave, children } = props
  const place = useRef<HTMLSpanElement>(null)
  const box = useRef<HTMLDivElement>(null)
  const cells = use(SelectedCells)
  useLayoutEffect(() => {
    const cell = place.current?.parentElement
    const editor = box.current
    return cell && editor ? keepOver(cell, editor) : undefined
  }, [])
  usePressElsewhere(box, onLeave)
  useLeavingWhenRemoved(place, onLeave)
  useAskingBeforePageCloses(isChanged)
  const leave = (event: FocusEvent): void => {
    // When the window loses the focus, the active element stays the same.
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
            // The shortcuts of the command menu and of the search work everywhere: what they open takes the focus.
            if (/^[kf]$/i.test(event.key) && (event.ctrlKey || event.metaKey)) return
            event.stopPropagation()
            if (!isOfInputMethod(event)) onKeyDown(event)
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
          {cells > 1 && <EditorHint>Ctrl+Enter sets all {formatCount(cells)} cells</EditorHint>}
        </div>,
        document.body,
      )}
    </>
  )
}

/**
 * Calls back on a press outside before other handlers run: they may remove the editor, and a removed element gets no
 * blur event.
 */
export function usePressElsewhere(box: RefObject<HTMLElement | null>, onPress: () => void): void {
  const latest = useLatest(onPress)
  useLayoutEffect(() => {
    const onPointerDown = (event: PointerEvent): void => {
      const { target } = event
      const isInside = target instanceof Node && box.current?.contains(target) === true
      if (!isInside && !isOnScrollbar(event)) latest.current()
    }
    addEventListener('pointerdown', onPointerDown, { capture: true })
    return () => removeEventListener('pointerdown', onPointerDown, { capture: true })
  }, [box, latest])
}

/** Calls back once the editor is removed from the page: a removed element gets no blur event. */
function useLeavingWhenRemoved(place: RefObject<HTMLElement | null>, onLeave: () => void): void {
  const latest = useLatest(onLeave)
  useLayoutEffect(() => {
    const element = place.current
    return () => {
      // Not at once: React in development runs this without removing the element.
      queueMicrotask(() => {
        if (element?.isConnected === false) latest.current()
      })
    }
  }, [place, latest])
}

/**
 * Makes the browser ask before it closes or reloads the page with a changed text in the editor. Asking, as for refused
 * edits, loses nothing that the person wants to keep. Saving instead would write half a text, and a text kept in the
 * browser would need a place, an owner and an end.
 */
function useAskingBeforePageCloses(isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) return
    addEventListener('beforeunload', keepPage)
    return () => removeEventListener('beforeunload', keepPage)
  }, [isChanged])
}

/** Scrolling does not end editing. */
function isOnScrollbar({ target, offsetX, offsetY }: PointerEvent): boolean {
  return (
    target instanceof HTMLElement &&
    (offsetX > target.clientWidth || offsetY > target.clientHeight) &&
    target.scrollHeight > target.clientHeight
  )
}

/** React events bubble from a portal to the parents of its component. */
function stop(event: SyntheticEvent): void {
  event.stopPropagation()
}

/** Keeps an editor over a cell; returns the function that ends it. */
export function keepOver(cell: HTMLElement, editor: HTMLElement): () => void {
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

/** Grows downwards, or upwards if there is more space. */
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

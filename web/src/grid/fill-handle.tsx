import { useLayoutEffect, useRef, useState, type PointerEvent, type RefObject } from 'react'
import { showError } from '../ui/toasts.tsx'
import { fillFrom } from './interaction/fill-cells.ts'
import { placeAt, scrollAtEdges } from './interaction/place-at.ts'
import type { GridModel } from './interaction/use-grid.ts'
import { extendedTo, HEAD_ROW, rangeOf, type CellRange } from './selection/cell-range.ts'
import './fill-handle.css'

/** The handle at the corner of the selected cells: dragging it fills the cells beside them. */
export function FillHandle({ model }: { readonly model: GridModel }) {
  const { selecting, columns, editing, context } = model
  const { selection } = selecting
  const [target, setTarget] = useState<CellRange | null>(null)
  const handle = useRef<HTMLDivElement>(null)
  const outline = useRef<HTMLDivElement>(null)
  const source = selection === null || selection.focus.row === HEAD_ROW ? null : rangeOf(selection)
  useCover(handle, model, source)
  useCover(outline, model, target)
  if (source === null || !columns.layout.columns.slice(source.left, source.right + 1).some(mayWrite))
    return null

  const begin = (event: PointerEvent<HTMLElement>): void => {
    if (event.button !== 0) return
    event.preventDefault()
    event.stopPropagation()
    dragFrom(event.currentTarget, event, {
      onMove: (point) => {
        scrollAtEdges(model, point)
        const place = placeAt(model, point)
        const wanted = place === null ? source : extendedTo(source, place)
        setTarget(wanted === source ? null : wanted)
        return wanted
      },
      onEnd: (wanted) => {
        setTarget(null)
        if (wanted === null || wanted === source) return
        selecting.selectQuietly({
          focus: { row: wanted.top, column: wanted.left },
          end: { row: wanted.bottom, column: wanted.right },
        })
        fillFrom(context, source, wanted).catch(showError)
      },
    })
  }
  return (
    <>
      <div ref={outline} role="none" className="grid-fill-target" hidden={target === null} />
      <div ref={handle} role="none" className="grid-fill-place">
        <div
          role="none"
          className="grid-fill"
          title="Drag to fill (Ctrl+D fills down)"
          onPointerDown={begin}
        />
      </div>
    </>
  )

  function mayWrite({ field }: (typeof columns.layout.columns)[number]): boolean {
    return editing.mayWrite(field)
  }
}

interface Drag {
  /** Returns the range to fill at a position. */
  readonly onMove: (point: { readonly x: number; readonly y: number }) => CellRange
  /** Called with the last range; null if Escape cancelled it. */
  readonly onEnd: (range: CellRange | null) => void
}

function dragFrom(element: HTMLElement, { pointerId }: PointerEvent, { onMove, onEnd }: Drag): void {
  const stop = new AbortController()
  const { signal } = stop
  let last: CellRange | null = null
  const end = (isDone: boolean): void => {
    stop.abort()
    onEnd(isDone ? last : null)
  }
  element.setPointerCapture(pointerId)
  const onPointer = ({ clientX, clientY }: globalThis.PointerEvent): void => {
    last = onMove({ x: clientX, y: clientY })
  }
  const onKey = ({ key }: KeyboardEvent): void => {
    if (key === 'Escape') end(false)
  }
  element.addEventListener('pointermove', onPointer, { signal })
  element.addEventListener('pointerup', () => end(true), { signal })
  element.addEventListener('pointercancel', () => end(false), { signal })
  addEventListener('keydown', onKey, { signal })
}

/** Puts an element over a range, also while the grid scrolls. */
function useCover(element: RefObject<HTMLElement | null>, model: GridModel, range: CellRange | null): void {
  const { columns, scroller, scroll } = model
  const { layout, rowHeight } = columns
  const firstRow = scroll.rows.first
  useLayoutEffect(() => {
    if (range === null) return
    const [first, last] = [layout.columns[range.left], layout.columns[range.right]]
    if (first === undefined || last === undefined) return
    const move = (): void => {
      const { current } = element
      if (current === null) return
      const place = ({ isPinned, left }: typeof first): number => (isPinned ? left : left - scroller.left)
      const [left, right] = [place(first), place(last) + last.width]
      current.style.left = `${left}px`
      current.style.width = `${right - left}px`
      current.style.top = `${(range.top - firstRow) * rowHeight}px`
      current.style.height = `${(range.bottom - range.top + 1) * rowHeight}px`
      // The corner may be below the pinned columns.
      current.classList.toggle('behind', !last.isPinned && right <= layout.pinnedEnd)
    }
    move()
    return scroller.onMove(move)
  })
}

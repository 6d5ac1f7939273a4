import { useRef, useState, type PointerEvent } from 'react'
import { columnAt, type Column } from '../layout/column-layout.ts'
import type { HeadDrag } from './head-drag.ts'
import type { HeadHost } from './column-head-props.ts'
import type { ScrollController } from '../layout/scroll-controller.ts'

/** The movement in CSS pixels from which a press is a drag. */
const MIN_MOVE = 6

interface Target {
  readonly beside: Column
  readonly side: 'before' | 'after'
}

/** Moves and resizes columns by dragging their heads. */
export function useHeadDrag(host: HeadHost): HeadDrag {
  const [moving, setMoving] = useState<{ readonly name: string; readonly target: Target | null } | null>(null)
  const moved = useRef(false)

  const targetAt = (column: Column, x: number): Target | null => {
    const { columns, scroller } = host.current.model
    const box = scroller.element?.getBoundingClientRect()
    if (box === undefined) return null
    const beside = columnAt(columns.layout, x - box.left, scroller.left)
    if (beside === undefined || beside.index === column.index || beside.isPinned !== column.isPinned)
      return null
    return { beside, side: beside.index < column.index ? 'before' : 'after' }
  }
  const beginMove: HeadDrag['beginMove'] = (event, column) => {
    if (event.button !== 0 || event.pointerType === 'touch') return
    moved.current = false
    let target: Target | null = null
    follow(event, {
      onMove: (by, x) => {
        if (!moved.current && Math.abs(by) < MIN_MOVE) return
        moved.current = true
        target = targetAt(column, x)
        setMoving({ name: column.field.name, target })
      },
      onEnd: (isDone) => {
        setMoving(null)
        if (isDone && target !== null)
          host.current.model.columns.place(column.field.name, target.beside.field.name, target.side)
      },
    })
  }
  const beginResize: HeadDrag['beginResize'] = (event, { field, width }) => {
    if (event.button !== 0) return
    event.stopPropagation()
    let wanted = width
    follow(event, {
      onMove: (by) => {
        wanted = width + by
        host.current.model.columns.tryWidth(field.name, wanted)
      },
      onEnd: (isDone) => host.current.model.columns.resize(field.name, isDone ? wanted : width),
    })
  }
  const { target } = moving ?? { target: null }
  return {
    mark: target === null ? null : markOf(target, host.current.model.scroller),
    name: moving?.name ?? null,
    beginMove,
    beginResize,
    wasDrag: () => moved.current,
  }
}

function markOf({ beside, side }: Target, scroller: ScrollController): number {
  const left = beside.isPinned ? beside.left : beside.left - scroller.left
  return side === 'before' ? left : left + beside.width
}

interface Following {
  readonly onMove: (by: number, x: number) => void
  /** False if Escape cancelled it. */
  readonly onEnd: (isDone: boolean) => void
}

/** Follows a pointer until it is released. */
function follow(event: PointerEvent<HTMLElement>, { onMove, onEnd }: Following): void {
  const element: HTMLElement = event.currentTarget
  const start = event.clientX
  const stop = new AbortController()
  const { signal } = stop
  const end = (isDone: boolean): void => {
    stop.abort()
    onEnd(isDone)
  }
  element.setPointerCapture(event.pointerId)
  element.addEventListener('pointermove', ({ clientX }) => onMove(clientX - start, clientX), { signal })
  element.addEventListener('pointerup', () => end(true), { signal })
  element.addEventListener('pointercancel', () => end(false), { signal })
  const onKey = ({ key }: KeyboardEvent): void => {
    if (key === 'Escape') end(false)
  }
  addEventListener('keydown', onKey, { signal })
}

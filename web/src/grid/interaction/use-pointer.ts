import { useRef, type MouseEvent, type PointerEvent } from 'react'
import { placeAt, scrollAtEdges } from './place-at.ts'
import type { GridModel } from './use-grid.ts'

interface PointerHandlers {
  onPointerDown(event: PointerEvent<HTMLElement>): void
  onPointerMove(event: PointerEvent<HTMLElement>): void
  onPointerUp(event: PointerEvent<HTMLElement>): void
  onPointerCancel(event: PointerEvent<HTMLElement>): void
  onClick(event: MouseEvent<HTMLElement>): void
  onDoubleClick(event: MouseEvent<HTMLElement>): void
}

/** The actions of buttons in cells, by `data-do`. */
export interface CellPresses {
  check(row: number, through: boolean): void
  edit(): void
  panel(): void
  retry(): void
}

/** Selects cells by mouse or touch. */
export function usePointer(model: GridModel, presses: CellPresses): PointerHandlers {
  const drag = useRef<{ x: number; y: number; frame: number } | null>(null)

  const follow = (): void => {
    const { current } = drag
    if (current === null) return
    scrollAtEdges(model, current)
    const place = placeAt(model, current)
    if (place !== null) model.selecting.extendQuietly(place)
    current.frame = requestAnimationFrame(follow)
  }
  const end = (): void => {
    cancelAnimationFrame(drag.current?.frame ?? 0)
    drag.current = null
  }
  return {
    onPointerDown: (event) => {
      if (event.button !== 0 || event.pointerType === 'touch' || !isOnCell(event)) return
      const place = placeAt(model, { x: event.clientX, y: event.clientY })
      if (place === null) return
      model.selecting.goTo(place, event.shiftKey)
      drag.current = { x: event.clientX, y: event.clientY, frame: 0 }
    },
    onPointerMove: (event) => {
      const { current } = drag
      if (current === null) return
      if (event.buttons === 0) {
        end()
        return
      }
      const hasMoved = Math.abs(event.clientX - current.x) + Math.abs(event.clientY - current.y) > 3
      if (current.frame === 0 && !hasMoved) return
      current.x = event.clientX
      current.y = event.clientY
      if (current.frame !== 0) return
      // Not earlier: the capturing element would receive the click.
      event.currentTarget.setPointerCapture(event.pointerId)
      follow()
    },
    onPointerUp: end,
    onPointerCancel: end,
    onClick: (event) => {
      const press = pressOf(event)
      if (press !== null) act(presses, press, event)
      else if (event.detail > 0 && isTouch(event) && isOnCell(event)) {
        const place = placeAt(model, { x: event.clientX, y: event.clientY })
        if (place !== null) model.selecting.goTo(place, false)
      }
    },
    onDoubleClick: (event) => {
      if (isOnCell(event) && pressOf(event) === null) presses.edit()
    },
  }
}

function elementOf(event: MouseEvent): Element | null {
  return event.target instanceof Element ? event.target : null
}

/** Whether the event is on a cell, and not on a control in it. */
function isOnCell(event: MouseEvent): boolean {
  const element = elementOf(event)
  return (
    element?.closest('.grid-cell') !== null && element?.closest('[data-do], .grid-over, .grid-fill') === null
  )
}

function isTouch({ nativeEvent }: MouseEvent): boolean {
  return 'pointerType' in nativeEvent && nativeEvent.pointerType === 'touch'
}

interface Press {
  readonly what: string
  readonly row: number
}

function pressOf(event: MouseEvent): Press | null {
  const element = elementOf(event)
  const row = Number(element?.closest<HTMLElement>('[data-row]')?.dataset['row'] ?? -1)
  if (element?.closest('.grid-row .grid-gutter')) return { what: 'check', row }
  const what = element?.closest<HTMLElement>('[data-do]')?.dataset['do']
  return what === undefined ? null : { what, row }
}

function act(presses: CellPresses, { what, row }: Press, event: MouseEvent): void {
  if (what === 'check') presses.check(row, event.shiftKey)
  else if (what === 'panel') presses.panel()
  else if (what === 'retry') presses.retry()
}

import { useLayoutEffect, useRef } from 'react'
import { stripLeft, type ColumnLayout } from './column-layout.ts'
import type { ScrollController } from './scroll-controller.ts'
import type { ScrollView } from './scroll-view.ts'

/**
 * Positions rows and columns by transforms, on every move and after rendering. Each row has one strip with its
 * scrolling columns: a sticky cell each would be a layer each, which browsers composite anew in every frame.
 */
export function useScrollTransforms(
  layer: HTMLElement | null,
  scroller: ScrollController,
  { rows, columns }: ScrollView,
  layout: ColumnLayout,
): void {
  const left = stripLeft(layout, columns.first, columns.end) - layout.pinnedEnd
  const at = useRef({ first: rows.first, left, movedLeft: 0 })
  useLayoutEffect(() => {
    at.current = { first: rows.first, left, movedLeft: scroller.left }
    if (layer === null) return
    moveRows(layer, rows.first * scroller.rowHeight - scroller.offset)
    moveStrips(layer, left - scroller.left)
    markScrolled(layer, scroller.left)
  })
  useLayoutEffect(() => {
    if (layer === null) return
    return scroller.onMove(() => {
      const { current } = at
      moveRows(layer, current.first * scroller.rowHeight - scroller.offset)
      if (current.movedLeft === scroller.left) return
      current.movedLeft = scroller.left
      moveStrips(layer, current.left - scroller.left)
      markScrolled(layer, scroller.left)
    })
  }, [layer, scroller])
}

function moveRows(layer: HTMLElement, by: number): void {
  const rows = layer.querySelector<HTMLElement>('.grid-rows')
  if (rows !== null) rows.style.transform = `translateY(${onPixels(by)}px)`
}

function moveStrips(layer: HTMLElement, by: number): void {
  const transform = `translateX(${onPixels(by)}px)`
  for (const strip of layer.querySelectorAll<HTMLElement>('.grid-strip')) {
    if (strip.style.transform !== transform) strip.style.transform = transform
  }
}

function markScrolled(layer: HTMLElement, left: number): void {
  layer.classList.toggle('scrolled', left > 0)
}

/** Rounds to device pixels, which keeps text and lines sharp. */
function onPixels(length: number): number {
  return Math.round(length * devicePixelRatio) / devicePixelRatio
}

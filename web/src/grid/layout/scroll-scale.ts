/**
 * Browsers limit the height of elements to some tens of millions of pixels, less than a million rows need. The
 * scrolling element is a spacer of limited height; the offset within all rows is authoritative, and the thumb is in
 * proportion to it.
 */
export interface ScrollShape {
  /** The height of all rows together. */
  readonly content: number
  /** The height of the visible part. */
  readonly viewport: number
}

export const TALLEST_SPACER = 8_000_000

export function spacerHeight({ content }: ScrollShape): number {
  return Math.min(content, TALLEST_SPACER)
}

/** Whether a pixel of the scroll bar is more than a pixel of the rows. */
export function isScaled({ content }: ScrollShape): boolean {
  return content > TALLEST_SPACER
}

export function clampOffset(shape: ScrollShape, offset: number): number {
  return Math.max(0, Math.min(offset, greatestOffset(shape)))
}

/** Returns the scrollTop for an offset. */
export function toScrollTop(shape: ScrollShape, offset: number): number {
  const greatest = greatestOffset(shape)
  return greatest === 0 ? 0 : (clampOffset(shape, offset) * greatestScrollTop(shape)) / greatest
}

/** Returns the offset for a scrollTop. */
export function toOffset(shape: ScrollShape, scrollTop: number): number {
  const greatest = greatestScrollTop(shape)
  return greatest === 0 ? 0 : clampOffset(shape, (scrollTop * greatestOffset(shape)) / greatest)
}

/** Returns the offset that shows a range of pixels with the least movement. */
export function offsetToShow(shape: ScrollShape, offset: number, top: number, height: number): number {
  if (top < offset) return clampOffset(shape, top)
  const below = top + height - shape.viewport
  return clampOffset(shape, below > offset ? below : offset)
}

function greatestOffset({ content, viewport }: ScrollShape): number {
  return Math.max(0, content - viewport)
}

function greatestScrollTop(shape: ScrollShape): number {
  return Math.max(0, spacerHeight(shape) - shape.viewport)
}

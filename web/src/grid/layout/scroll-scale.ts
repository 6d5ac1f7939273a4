/**
 * Browsers cut elements off at some tens of millions of pixels, so a sheet of a million rows cannot be as tall as its
 * rows are. What scrolls is a spacer of bounded height; the offset within all rows is the truth, and the thumb stands
 * in proportion to it.
 */
export interface ScrollShape {
  /** The height of all rows together. */
  readonly content: number
  /** The height of what is seen of them. */
  readonly viewport: number
}

export const TALLEST_SPACER = 8_000_000

export function spacerHeight({ content }: ScrollShape): number {
  return Math.min(content, TALLEST_SPACER)
}

/** Whether a pixel of the scroll bar stands for more than one of the rows. */
export function isScaled({ content }: ScrollShape): boolean {
  return content > TALLEST_SPACER
}

export function clampOffset(shape: ScrollShape, offset: number): number {
  return Math.max(0, Math.min(offset, greatestOffset(shape)))
}

/** Where the browser's scroll bar stands for an offset. */
export function toScrollTop(shape: ScrollShape, offset: number): number {
  const greatest = greatestOffset(shape)
  return greatest === 0 ? 0 : (clampOffset(shape, offset) * greatestScrollTop(shape)) / greatest
}

/** The offset that a place of the browser's scroll bar stands for. */
export function toOffset(shape: ScrollShape, scrollTop: number): number {
  const greatest = greatestScrollTop(shape)
  return greatest === 0 ? 0 : clampOffset(shape, (scrollTop * greatestOffset(shape)) / greatest)
}

/** The offset that shows a stretch of rows, moved no more than it must be. */
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

import { clampOffset, isScaled, toOffset, toScrollTop, type ScrollShape } from './scroll-scale.ts'

/** The browser's scroll bar: it follows the offset within all rows, and leads it when somebody moves it. */
export class ScrollThumb {
  /** Where it was put, so that its own events are known. */
  #expected = 0
  #isTouched = false

  /** What scrolls next is a finger, or is not. */
  touch(isTouched: boolean): void {
    this.#isTouched = isTouched
  }

  get isTouched(): boolean {
    return this.#isTouched
  }

  /** The offset that somebody has moved it to, `from` another; null when nobody has. */
  read(element: HTMLElement, shape: ScrollShape, from: number): number | null {
    const top = element.scrollTop
    const by = top - this.#expected
    if (Math.abs(by) < 1) return null
    this.#expected = top
    // The thumb means a ratio; a finger means pixels.
    return this.#isTouched && isScaled(shape) ? clampOffset(shape, from + by) : toOffset(shape, top)
  }

  place(element: HTMLElement, shape: ScrollShape, offset: number): void {
    const wanted = toScrollTop(shape, offset)
    if (Math.abs(element.scrollTop - wanted) >= 1) element.scrollTop = wanted
    // The browser rounds, and may not be as tall yet.
    this.#expected = element.scrollTop
  }
}

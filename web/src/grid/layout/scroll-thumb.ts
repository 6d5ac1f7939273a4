import { clampOffset, isScaled, toOffset, toScrollTop, type ScrollShape } from './scroll-scale.ts'

/** The browser's scroll bar: it follows the offset, and changes it when the user moves the thumb. */
export class ScrollThumb {
  /** The scrollTop that was set, to recognize the resulting event. */
  #expected = 0
  #isTouched = false

  /** Sets whether the next scroll events come from touch. */
  touch(isTouched: boolean): void {
    this.#isTouched = isTouched
  }

  get isTouched(): boolean {
    return this.#isTouched
  }

  /** Returns the offset to which the user scrolled from another; null if the event is our own. */
  read(element: HTMLElement, shape: ScrollShape, from: number): number | null {
    const top = element.scrollTop
    const by = top - this.#expected
    if (Math.abs(by) < 1) return null
    this.#expected = top
    // The thumb scrolls in proportion, touch by pixels.
    return this.#isTouched && isScaled(shape) ? clampOffset(shape, from + by) : toOffset(shape, top)
  }

  place(element: HTMLElement, shape: ScrollShape, offset: number): void {
    const wanted = toScrollTop(shape, offset)
    if (Math.abs(element.scrollTop - wanted) >= 1) element.scrollTop = wanted
    // The browser rounds, and the element may not have its full height yet.
    this.#expected = element.scrollTop
  }
}

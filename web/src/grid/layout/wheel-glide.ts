/** The height of a line in CSS pixels, for wheel events in lines (Firefox). */
const LINE = 34

/** Returns the distance of a wheel event in CSS pixels. */
export function pixelsOf(event: WheelEvent, page: number): { readonly x: number; readonly y: number } {
  const unit = event.deltaMode === 1 ? LINE : event.deltaMode === 2 ? page : 1
  const [x, y] = [event.deltaX * unit, event.deltaY * unit]
  // With Shift, a wheel scrolls horizontally.
  return event.shiftKey && x === 0 ? { x: y, y: 0 } : { x, y }
}

/** The smallest step of a mouse wheel; smaller ones come from a touchpad, which is smooth already. */
const NOTCH = 40
/** The part of the remaining distance per frame. */
const PART = 0.35

/** Spreads the steps of a wheel over several frames, like native smooth scrolling. */
export class WheelGlide {
  readonly #move: (by: number) => void
  readonly #reduced = matchMedia('(prefers-reduced-motion: reduce)')
  #left = 0
  #frame = 0

  constructor(move: (by: number) => void) {
    this.#move = move
  }

  push(by: number): void {
    if (Math.abs(by) < NOTCH || this.#reduced.matches) {
      this.stop()
      this.#move(by)
      return
    }
    // A reversal discards the remaining distance.
    this.#left = Math.sign(this.#left) === -Math.sign(by) ? by : this.#left + by
    if (this.#frame === 0) this.#frame = requestAnimationFrame(this.#step)
  }

  stop(): void {
    cancelAnimationFrame(this.#frame)
    this.#frame = 0
    this.#left = 0
  }

  #step = (): void => {
    const by = Math.abs(this.#left) < 2 ? this.#left : this.#left * PART
    this.#left -= by
    this.#frame = this.#left === 0 ? 0 : requestAnimationFrame(this.#step)
    this.#move(by)
  }
}

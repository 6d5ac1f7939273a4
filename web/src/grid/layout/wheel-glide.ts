/** What Firefox counts in lines, in pixels. */
const LINE = 34

/** How far a wheel event goes, in pixels. */
export function pixelsOf(event: WheelEvent, page: number): { readonly x: number; readonly y: number } {
  const unit = event.deltaMode === 1 ? LINE : event.deltaMode === 2 ? page : 1
  const [x, y] = [event.deltaX * unit, event.deltaY * unit]
  // With Shift a wheel goes sideways.
  return event.shiftKey && x === 0 ? { x: y, y: 0 } : { x, y }
}

/** A step this long is a notch of a wheel; shorter ones come from a touchpad, which glides by itself. */
const NOTCH = 40
/** The part of what is left that each frame goes. */
const PART = 0.35

/** Spreads the notches of a wheel over some frames, as browsers do for what they scroll themselves. */
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
    // Turning back does not first finish what was on its way.
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

/** Rows that are not there after so long are shown as not there. */
const HOLD_MS = 150
/** A dragged thumb passes a place with every frame; those before the last few are not gone to any more. */
const MOST_PLACES = 32

/**
 * After a jump, what was in sight stays for a moment until the rows of the place are there: between the places that a
 * dragged thumb passes nothing is blank, as long as rows come quickly.
 */
export class ScrollHold {
  readonly #arrive: (offset: number) => void
  /** Offsets that somebody jumped to, the latest last. */
  #places: number[] = []
  #timer: ReturnType<typeof setTimeout> | null = null

  /** `arrive` shows an offset: when its rows are there, or have not come for too long. */
  constructor(arrive: (offset: number) => void) {
    this.#arrive = arrive
  }

  /** The offset that is waited for; null for none. */
  get goal(): number | null {
    return this.#places.at(-1) ?? null
  }

  jump(offset: number): void {
    this.#places = [...this.#places.slice(1 - MOST_PLACES), offset]
    this.#timer ??= setTimeout(() => this.#go(this.#places.length - 1), HOLD_MS)
  }

  /** Other rows have come: goes to the latest place that has all of its own. */
  look(isThere: (offset: number) => boolean): void {
    const index = this.#places.findLastIndex(isThere)
    if (index >= 0) this.#go(index)
  }

  drop(): void {
    this.#places = []
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #go(index: number): void {
    const [offset, ...later] = this.#places.slice(index)
    this.drop()
    if (offset === undefined) return
    this.#arrive(offset)
    for (const place of later) this.jump(place)
  }
}

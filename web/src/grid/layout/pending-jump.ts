/** The maximum time to wait for rows before showing placeholders. */
const HOLD_MS = 150
/** A dragged thumb passes an offset per frame; only the latest ones are kept. */
const MAX_PLACES = 32

/**
 * Delays a jump until the rows of the target are loaded, for a short time, so that dragging the thumb shows no blank
 * rows if the server is fast.
 */
export class PendingJump {
  readonly #arrive: (offset: number) => void
  /** The offsets of recent jumps, the latest last. */
  #places: number[] = []
  #timer: ReturnType<typeof setTimeout> | null = null

  /** Calls `arrive` with an offset when its rows are loaded, or after the timeout. */
  constructor(arrive: (offset: number) => void) {
    this.#arrive = arrive
  }

  /** The offset of the pending jump; null for none. */
  get goal(): number | null {
    return this.#places.at(-1) ?? null
  }

  jump(offset: number): void {
    this.#places = [...this.#places.slice(1 - MAX_PLACES), offset]
    this.#timer ??= setTimeout(() => this.#go(this.#places.length - 1), HOLD_MS)
  }

  /** Goes to the latest offset whose rows are loaded. */
  look(exists: (offset: number) => boolean): void {
    const index = this.#places.findLastIndex(exists)
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

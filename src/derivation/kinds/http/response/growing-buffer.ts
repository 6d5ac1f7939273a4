const PAGE = 64 * 1024

/**
 * Bytes that come in pieces. They are copied: a piece of one byte, kept as it came, would hold on to hundreds, and it
 * is the far end that decides on the pieces.
 */
export class GrowingBuffer {
  readonly #pages: Buffer[] = []
  #length = 0
  /** Where the last page is free from. */
  #end = 0

  get length(): number {
    return this.#length
  }

  add(piece: Uint8Array): void {
    let rest = piece
    while (rest.length > 0) {
      const page = this.#page(rest.length)
      const part = rest.subarray(0, page.length - this.#end)
      page.set(part, this.#end)
      this.#end += part.length
      this.#length += part.length
      rest = rest.subarray(part.length)
    }
  }

  /** All that was added, which is not to be added to any more. */
  bytes(): Buffer {
    const [only] = this.#pages
    if (only !== undefined && this.#pages.length === 1) return only.subarray(0, this.#length)
    return Buffer.concat(this.#pages, this.#length)
  }

  /** The page that has room; small as long as all is small. */
  #page(wanted: number): Buffer {
    const last = this.#pages.at(-1)
    if (last !== undefined && this.#end < last.length) return last
    const page = Buffer.allocUnsafe(Math.min(PAGE, Math.max(wanted, this.#length)))
    this.#pages.push(page)
    this.#end = 0
    return page
  }
}

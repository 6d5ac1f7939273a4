const PAGE = 64 * 1024

/**
 * Collects bytes that arrive in chunks. They are copied: a chunk of one byte would keep hundreds alive, and the host decides on the chunks.
 */
export class GrowingBuffer {
  readonly #pages: Buffer[] = []
  #length = 0
  /** The index of the first free byte of the last page. */
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

  /** Returns all bytes; nothing may be added afterwards. */
  bytes(): Buffer {
    const [only] = this.#pages
    if (only !== undefined && this.#pages.length === 1) return only.subarray(0, this.#length)
    return Buffer.concat(this.#pages, this.#length)
  }

  /** Returns the page with free space; pages are small while the total is. */
  #page(wanted: number): Buffer {
    const last = this.#pages.at(-1)
    if (last !== undefined && this.#end < last.length) return last
    const page = Buffer.allocUnsafe(Math.min(PAGE, Math.max(wanted, this.#length)))
    this.#pages.push(page)
    this.#end = 0
    return page
  }
}

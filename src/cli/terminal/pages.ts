/** A page of items, and the cursor of the next. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
}

/** The most items of a page. */
const PAGE = 1000

/** The pages of a list, read on demand. */
export class Pages<T> {
  readonly #read: (page: { readonly limit: number; readonly cursor: string | null }) => Promise<Page<T>>
  /** The cursor of the next page; null after the last. */
  nextCursor: string | null

  /** Starts at the first item when `cursor` is null. */
  constructor(
    read: (page: { readonly limit: number; readonly cursor: string | null }) => Promise<Page<T>>,
    cursor: string | null,
  ) {
    this.#read = read
    this.nextCursor = cursor
  }

  /** Yields at most `limit` items, a page at a time. Throws what reading throws. */
  async *upTo(limit: number): AsyncGenerator<readonly T[]> {
    for (let left = limit; left > 0;) {
      const page = await this.#read({ limit: Math.min(left, PAGE), cursor: this.nextCursor })
      this.nextCursor = page.nextCursor
      yield page.items
      left -= page.items.length
      if (this.nextCursor === null) return
    }
  }
}

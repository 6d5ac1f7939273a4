/** A page of items, and where the next one starts. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
}

/** Items that are read at once. */
const PAGE = 1000

/** The pages of a list, read as they are asked for. */
export class Pages<T> {
  readonly #read: (page: { readonly limit: number; readonly cursor: string | null }) => Promise<Page<T>>
  /** Where what has not been read starts; null when everything has. */
  nextCursor: string | null

  /** `cursor` null starts at the first item. */
  constructor(
    read: (page: { readonly limit: number; readonly cursor: string | null }) => Promise<Page<T>>,
    cursor: string | null,
  ) {
    this.#read = read
    this.nextCursor = cursor
  }

  /** At most so many items, a page at a time. Throws what reading throws. */
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

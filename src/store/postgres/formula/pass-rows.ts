import type { QueryRow } from '../../records-query.ts'

/** The most rows that are kept, and the most characters of them with the values that they are for. */
const MOST_ROWS = 50_000
const MOST_CHARACTERS = 8 * 1024 * 1024

/** Keeps the rows that a query returned in a pass over one version of what it reads, so that records with equal values take one execution. */
export class PassRows {
  /** Identifies the version. */
  readonly of: string
  readonly #rows = new Map<string, QueryRow>()
  #characters = 0

  constructor(of: string) {
    this.of = of
  }

  /** Returns the row for these values; undefined where none is kept. */
  get(values: string): QueryRow | undefined {
    return this.#rows.get(values)
  }

  /** Keeps a row. */
  set(values: string, row: QueryRow): void {
    this.#characters += values.length + JSON.stringify(row).length
    if (this.#rows.size === MOST_ROWS || this.#characters > MOST_CHARACTERS) {
      this.#rows.clear()
      this.#characters = 0
      return
    }
    this.#rows.set(values, row)
  }
}

import type { Connection } from './connection.ts'

/** Has PostgreSQL look at how large the tables are that grow with a sheet. */
export const ANALYZE = 'ANALYZE "$data", "$provenance", "$import", "$deleted", "$cell", "$todo", "$cache"'

/**
 * A small sheet may grow by so many lines of the log, a large one by as many as it has records: what it costs to look at the
 * tables is then little beside what made them grow.
 */
const LINES = 1000
const PART = 1

/**
 * Keeps the plans of statements fit for the size of the tables. A connection plans a statement once, for the tables as they
 * are then: one that was planned for an empty sheet goes on reading all of a large one. PostgreSQL looks at tables by
 * itself, but a minute later, and a sheet can grow by many times in that.
 */
export class PlanKeeper {
  readonly #db: Connection
  /** Lines of the log since PostgreSQL was last told to look. */
  #lines = 0
  #looking: Promise<void> | null = null

  constructor(db: Connection) {
    this.#db = db
  }

  /** To be called after a change that has added so many lines to the log of a sheet, and leaves so many records. */
  grown(lines: number, records: number): void {
    this.#lines += lines
    if (this.#looking !== null || this.#lines < LINES + PART * records) return
    this.#lines = 0
    this.#looking = this.#look()
  }

  async #look(): Promise<void> {
    try {
      await this.#db.exec(ANALYZE)
    } catch {
      // What is wrong with the database is told by whoever needs it.
    }
    this.#looking = null
  }

  async close(): Promise<void> {
    await this.#looking
  }
}

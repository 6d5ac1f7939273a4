import type { Connection } from './connection.ts'

/** Updates the statistics of the tables that grow with a sheet. */
export const ANALYZE =
  'ANALYZE "$data", "$written", "$provenance", "$import", "$deleted", "$cell", "$todo", "$cache"'

/**
 * Lines of the log between two updates: so many, and in addition one for each record that there was at the last update. So their cost is
 * small beside that of the writes, and a sheet that only grows is looked at each time it has doubled.
 */
const LINES = 1000

/**
 * Keeps the plans of statements suitable for the size of the tables. A connection plans a statement once, for the tables at
 * that time: one that was planned for an empty sheet scans all of a large one. Autovacuum updates statistics only a minute
 * later, and a sheet can grow many times in that.
 */
export class PlanKeeper {
  readonly #db: Connection
  /** Lines of the log since the last update. */
  #lines = 0
  /** Records at the last update; null before the first write. */
  #records: number | null = null
  #looking: Promise<void> | null = null

  constructor(db: Connection) {
    this.#db = db
  }

  /** Call after a change that has added so many lines to the log of a sheet, and leaves so many records. */
  grown(lines: number, records: number): void {
    this.#lines += lines
    this.#records ??= Math.max(0, records - lines)
    if (this.#looking !== null || this.#lines < LINES + this.#records) return
    this.#lines = 0
    this.#records = records
    this.#looking = this.#look()
  }

  async #look(): Promise<void> {
    try {
      await this.#db.exec(ANALYZE)
    } catch {
      // Errors of the database are reported by the next query.
    }
    this.#looking = null
  }

  async close(): Promise<void> {
    await this.#looking
  }
}

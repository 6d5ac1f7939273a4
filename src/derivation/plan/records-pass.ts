import type { QueryPass } from '../../store/records-query.ts'

/** Queries in a row that are stopped at a limit before the others of a pass are not tried. */
const MOST_STOPPED = 3

/** Gives a query up after {@link MOST_STOPPED} records in a row for which a limit stopped it. */
export class RecordsPass implements QueryPass {
  #stopped = 0
  #reason = ''

  /** The reason why the query is not tried any more; null if it is. */
  get given(): string | null {
    return this.#stopped < MOST_STOPPED
      ? null
      : `not tried, since ${MOST_STOPPED} records in a row failed: ${this.#reason}`
  }

  succeeded(): void {
    this.#stopped = 0
  }

  /** Notes that the query failed for a record, and whether a limit stopped it. */
  failed(reason: string, wasStopped: boolean): void {
    this.#stopped = wasStopped ? this.#stopped + 1 : 0
    this.#reason = reason
  }
}

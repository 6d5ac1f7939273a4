import { CoalescedQuery } from '../database/coalesced-query.ts'
import type { Connection } from '../database/connection.ts'

/**
 * An expression that identifies the state of the store: every change of a record increments `last_seq`, and thereby creates
 * a new version of the row of `$sheet`.
 */
export const STATE = `(SELECT xmin::text || '/' || last_seq FROM "$sheet")`

/** The number of the newest revision, 0 for none, and the state of the records. */
interface Present {
  readonly revision: number
  readonly state: string
}

/**
 * The answers that each request needs before it reads: the newest revision of the definition, and whether cached records are those of now.
 * One query, sent after the last of them arrived, answers both for all requests that wait.
 */
export class PresentState {
  readonly #now: CoalescedQuery<Present>
  /**
   * The state from the answer that the event loop resumes requests with, and how many of these got their revision and have not asked for
   * the state yet; null in other turns.
   */
  #answer: { readonly state: string; open: number } | null = null

  constructor(db: Connection) {
    this.#now = new CoalescedQuery(() => this.#ask(db))
  }

  /** Returns the revision in force at the time of the call, or a later one. */
  async revision(): Promise<number> {
    const { revision } = await this.#now.run()
    if (this.#answer !== null) this.#answer.open += 1
    return revision
  }

  /** Returns the state at the time of the call, or a later one; for a request that has just got its revision, that of the same query. */
  async state(): Promise<string> {
    const answer = this.#answer
    if (answer === null || answer.open === 0) return (await this.#now.run()).state
    answer.open -= 1
    return answer.state
  }

  async #ask(db: Connection): Promise<Present> {
    const row = await db.get(`SELECT (SELECT max(number) FROM "$revision") AS revision, ${STATE} AS state`)
    const present = { revision: Number(row?.['revision'] ?? 0), state: String(row?.['state']) }
    this.#answer = { state: present.state, open: 0 }
    process.nextTick(() => (this.#answer = null))
    return present
  }
}

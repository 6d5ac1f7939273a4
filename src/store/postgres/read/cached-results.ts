import { answerCache } from '../../rows/result-cache.ts'
import type { RecordKey } from '../../cell-work.ts'
import type { Connection } from '../database/connection.ts'
import { SharedQuestion } from '../database/coalesced-query.ts'

/** The most bytes of cached responses. */
const ANSWERS_KEPT = 16 << 20

/**
 * An expression that identifies the state of the store: every change of a record increments `last_seq`, and thereby creates
 * a new version of the row of `$sheet`.
 */
export const STATE = `(SELECT xmin::text || '/' || last_seq FROM "$sheet")`

/** A cached response. */
export interface KeptAnswer {
  readonly json: Buffer
  /** The version of a record; empty for a page. */
  readonly version: string
  /** The key after which the next page starts; null for the last page. */
  readonly last: RecordKey | null
}

/**
 * Caches responses of reads for as long as no server changes anything. Concurrent requests check that with one query, sent
 * after the last of them arrived, so that each sees all writes before it.
 */
export class KeptAnswers {
  readonly #answers = answerCache<KeptAnswer>(ANSWERS_KEPT)
  readonly #now: SharedQuestion<string>
  /** The state of the cached responses. */
  #state = ''

  constructor(db: Connection) {
    this.#now = new SharedQuestion(async () => String((await db.get(`SELECT ${STATE} AS state`))?.['state']))
  }

  /** Returns the cached response, or that of `read` with the state that it is of; null is not cached. */
  async get(
    key: string,
    read: () => Promise<{ readonly answer: KeptAnswer; readonly state: string } | null>,
  ): Promise<KeptAnswer | null> {
    // A request that has to read anyway does not query the state.
    if (this.#answers.get(key) !== undefined && (await this.#now.ask()) === this.#state) {
      const known = this.#answers.get(key)
      if (known !== undefined) return known
    }
    const found = await read()
    if (found === null) return null
    if (found.state !== this.#state) {
      this.#answers.clear()
      this.#state = found.state
    }
    this.#answers.set(key, found.answer)
    return found.answer
  }

  /** Deletes all responses. */
  clear(): void {
    this.#answers.clear()
  }
}

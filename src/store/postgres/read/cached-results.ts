import { answerCache } from '../../rows/result-cache.ts'
import type { RecordKey } from '../../cell-work.ts'
import type { Connection } from '../database/connection.ts'
import { SharedQuestion } from '../database/coalesced-query.ts'

/** Bytes that are kept. */
const ANSWERS_KEPT = 16 << 20

/**
 * What tells the state of a store from every other, as an expression. Whoever changes a record counts up `last_seq`, so that
 * the row of `$sheet` is another one then.
 */
export const STATE = `(SELECT xmin::text || '/' || last_seq FROM "$sheet")`

/** An answer of a read. */
export interface KeptAnswer {
  readonly json: Buffer
  /** Of a record; empty for a page. */
  readonly version: string
  /** The last key of a page that others follow; null for none. */
  readonly last: RecordKey | null
}

/**
 * Answers of reads, given again for as long as no server has changed anything: many requests ask that with one question, put
 * after the last of them came, so that each sees what was written before it.
 */
export class KeptAnswers {
  readonly #answers = answerCache<KeptAnswer>(ANSWERS_KEPT)
  readonly #now: SharedQuestion<string>
  /** The state that the answers are of. */
  #state = ''

  constructor(db: Connection) {
    this.#now = new SharedQuestion(async () => String((await db.get(`SELECT ${STATE} AS state`))?.['state']))
  }

  /** An answer from before, or what `read` answers with, which tells of which state it is; null is not kept. */
  async get(
    key: string,
    read: () => Promise<{ readonly answer: KeptAnswer; readonly state: string } | null>,
  ): Promise<KeptAnswer | null> {
    // Nobody waits for the state who has to read anyway.
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

  /** Forgets all of them. */
  clear(): void {
    this.#answers.clear()
  }
}

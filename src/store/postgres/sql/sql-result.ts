import { resultTooLarge } from '../../rules/sql-errors.ts'
import { QueryError } from '../../../errors/service-error.ts'
import { inMebibytes, MAX_ANSWER_BYTES } from '../../query-limits.ts'

/** Length of the text that becomes bytes together. */
const CHUNK = 64 * 1024

/** Puts the JSON text of an answer together, piece by piece, and holds it to its limit. */
export class SqlAnswer {
  #text = ''
  #chunks: Buffer[] = []
  #total = 0

  /** Appends text. Throws QueryError when the answer becomes too large. */
  text(text: string): void {
    this.#text += text
    if (this.#text.length >= CHUNK) this.#toBytes()
  }

  /** The whole of it. */
  finish(): Buffer {
    this.#toBytes()
    return Buffer.concat(this.#chunks)
  }

  #toBytes(): void {
    const bytes = Buffer.from(this.#text)
    this.#text = ''
    this.#total += bytes.length
    if (this.#total > MAX_ANSWER_BYTES) throw resultTooLarge()
    this.#chunks.push(bytes)
  }
}

/** The row is larger than one may be. */
export function rowTooLarge(bytes: number): QueryError {
  return new QueryError(
    `a row of the result is larger than ${inMebibytes(bytes)}: select less`,
    'result_too_large',
  )
}

import { resultTooLarge } from '../../rules/sql/sql-errors.ts'
import { QueryError } from '../../../errors/service-error.ts'
import { inMebibytes, MAX_RESPONSE_BYTES } from '../../query-limits.ts'

/** Characters that are encoded at once. */
const CHUNK = 64 * 1024

/** Joins the JSON text of a response piece by piece, and enforces its limit. */
export class ResultWriter {
  #text = ''
  #chunks: Buffer[] = []
  #total = 0

  /** Appends text. Throws QueryError when the response becomes too large. */
  text(text: string): void {
    this.#text += text
    if (this.#text.length >= CHUNK) this.#toBytes()
  }

  /** Returns the complete response. */
  finish(): Buffer {
    this.#toBytes()
    return Buffer.concat(this.#chunks)
  }

  #toBytes(): void {
    const bytes = Buffer.from(this.#text)
    this.#text = ''
    this.#total += bytes.length
    if (this.#total > MAX_RESPONSE_BYTES) throw resultTooLarge()
    this.#chunks.push(bytes)
  }
}

/** Returns the error for a row beyond the limit. */
export function rowTooLarge(bytes: number): QueryError {
  return new QueryError(
    `a row of the result is larger than ${inMebibytes(bytes)}: select less`,
    'result_too_large',
  )
}

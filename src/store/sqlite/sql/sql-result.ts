import { resultTooLarge } from '../../rules/sql/sql-errors.ts'
import { MAX_RESPONSE_BYTES } from '../../query-limits.ts'

/** Length of the text, or of the bytes, that are sent at once. */
const CHUNK = 64 * 1024

/** Sends the JSON text of a response in pieces, so that it is never in memory as a whole, and enforces its limit. */
export class ResultWriter {
  readonly #send: (chunk: Uint8Array) => void
  #text = ''
  #total = 0

  /** `send` takes the next bytes, at most 64 KiB, and must not use them after it returns. */
  constructor(send: (chunk: Uint8Array) => void) {
    this.#send = send
  }

  /** Appends text. Throws QueryError when the response becomes too large. */
  text(text: string): void {
    this.#text += text
    if (this.#text.length >= CHUNK) this.finish()
  }

  /** Sends the rest. */
  finish(): void {
    const bytes = Buffer.from(this.#text)
    this.#text = ''
    this.#total += bytes.length
    if (this.#total > MAX_RESPONSE_BYTES) throw resultTooLarge()
    for (let start = 0; start < bytes.length; start += CHUNK) this.#send(bytes.subarray(start, start + CHUNK))
  }
}

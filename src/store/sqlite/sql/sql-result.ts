import { resultTooLarge } from '../../rules/sql/sql-errors.ts'
import { MAX_RESPONSE_BYTES } from '../../query-limits.ts'

/** Length of the text, or of the bytes, that are sent at once. */
const CHUNK = 64 * 1024

/** Sends the JSON text of a response in pieces, so that it is never in memory as a whole, and enforces its limit. */
export class ResultWriter {
  readonly #send: (chunk: Uint8Array) => void
  #text = ''
  #bytes: Uint8Array[] = []
  #waiting = 0
  #total = 0

  /** `send` takes the next bytes, at most 64 KiB, and must not use them after it returns. */
  constructor(send: (chunk: Uint8Array) => void) {
    this.#send = send
  }

  /** Appends text. Throws QueryError when the response becomes too large. */
  text(text: string): void {
    this.#text += text
    if (this.#text.length >= CHUNK) this.#textToBytes()
  }

  /** Appends UTF-8 bytes. Throws QueryError when the response becomes too large. */
  bytes(bytes: Uint8Array): void {
    this.#textToBytes()
    this.#add(bytes)
  }

  /** Sends the rest. */
  finish(): void {
    this.#textToBytes()
    this.#flush()
  }

  #textToBytes(): void {
    if (this.#text === '') return
    const bytes = Buffer.from(this.#text)
    this.#text = ''
    this.#add(bytes)
  }

  #add(bytes: Uint8Array): void {
    this.#total += bytes.length
    if (this.#total > MAX_RESPONSE_BYTES) throw resultTooLarge()
    this.#bytes.push(bytes)
    this.#waiting += bytes.length
    if (this.#waiting >= CHUNK) this.#flush()
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#bytes)
    this.#bytes = []
    this.#waiting = 0
    for (let start = 0; start < bytes.length; start += CHUNK) this.#send(bytes.subarray(start, start + CHUNK))
  }
}

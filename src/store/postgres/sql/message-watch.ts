/** A message of PostgreSQL begins with its kind (one byte) and its length without that byte (four bytes, big-endian). */
const HEADER_BYTES = 5

/**
 * Follows the messages in a stream of bytes from PostgreSQL, from the beginning of one on, and tells how long each is as soon
 * as it begins: a row is whole in memory before anybody sees it, and may have a gigabyte.
 */
export class FrameWatch {
  readonly #header = Buffer.alloc(HEADER_BYTES)
  #headerBytes = 0
  /** What is still to come of the message. */
  #rest = 0
  readonly #begins: (bytes: number) => void

  /** `begins` gets the length of each message, its header not counted. */
  constructor(begins: (bytes: number) => void) {
    this.#begins = begins
  }

  /** Takes the next bytes of the stream. */
  push(bytes: Buffer): void {
    for (let place = 0; place < bytes.length;) {
      if (this.#rest > 0) {
        const passed = Math.min(this.#rest, bytes.length - place)
        this.#rest -= passed
        place += passed
        continue
      }
      const copied = bytes.copy(this.#header, this.#headerBytes, place)
      this.#headerBytes += copied
      place += copied
      if (this.#headerBytes < HEADER_BYTES) return
      this.#headerBytes = 0
      this.#rest = Math.max(0, this.#header.readInt32BE(1) - 4)
      this.#begins(this.#rest)
    }
  }
}

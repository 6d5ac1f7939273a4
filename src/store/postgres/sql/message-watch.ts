/**
 * Bytes at the beginning of a message of PostgreSQL: its kind (one byte) and its length without that byte (four bytes,
 * big-endian).
 */
const HEADER_BYTES = 5

/**
 * Follows the messages in a stream of bytes from PostgreSQL, and reports the length of each as soon as it begins:
 * node-postgres buffers a row as a whole, and a row may have a gigabyte.
 */
export class FrameWatch {
  readonly #header = Buffer.alloc(HEADER_BYTES)
  #headerBytes = 0
  /** Bytes of the message that have not arrived. */
  #rest = 0
  readonly #begins: (bytes: number) => void

  /** `begins` receives the length of each message without its header. */
  constructor(begins: (bytes: number) => void) {
    this.#begins = begins
  }

  /** Processes the next bytes of the stream, which starts at the beginning of a message. */
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

import { closeSync, openSync, writeSync } from 'node:fs'

/** Bytes that are buffered before they are written. */
const CHUNK = 64 << 10

/** A new temporary file of text, written in pieces. Throws the errors of the file system. */
export class TextFile {
  readonly path: string
  readonly #fd: number
  #pieces: Uint8Array[] = []
  #waiting = 0
  #isClosed = false

  constructor(path: string) {
    this.path = path
    this.#fd = openSync(path, 'wx', 0o600)
  }

  /** Adds bytes, which may change after the call, or text. */
  add(content: Uint8Array | string): void {
    const bytes = Buffer.from(content)
    this.#pieces.push(bytes)
    this.#waiting += bytes.length
    if (this.#waiting >= CHUNK) this.#write()
  }

  /** Writes the rest and closes the file; does nothing the second time. */
  end(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    try {
      this.#write()
    } finally {
      closeSync(this.#fd)
    }
  }

  #write(): void {
    const bytes = Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#waiting = 0
    for (let written = 0; written < bytes.length;) written += writeSync(this.#fd, bytes, written)
  }
}

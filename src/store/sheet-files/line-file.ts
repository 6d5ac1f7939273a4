import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'

/** Bytes that are buffered before they are written. */
const CHUNK = 1 << 20

const LINE_FEED = Buffer.from('\n')

/** A new file of lines, written in large pieces and synced at its end. Throws the errors of the file system. */
export class LineFile {
  readonly #fd: number
  readonly #digest = createHash('sha256')
  #pieces: Buffer[] = []
  #waiting = 0
  #closed = false
  size = 0

  constructor(path: string) {
    this.#fd = openSync(path, 'w')
  }

  /** Adds a line, given without its line break. */
  add(line: Buffer): void {
    this.#pieces.push(line, LINE_FEED)
    this.#waiting += line.length + 1
    if (this.#waiting >= CHUNK) this.#write()
  }

  /** Writes the rest, syncs it, and closes the file. */
  end(): void {
    try {
      this.#write()
      fsyncSync(this.#fd)
    } finally {
      this.close()
    }
  }

  /** Closes the file without writing the rest; does nothing after {@link end}. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    closeSync(this.#fd)
  }

  /** Returns the hex SHA-256 of all that was written. */
  sha256(): string {
    return this.#digest.digest('hex')
  }

  #write(): void {
    const bytes = Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#waiting = 0
    this.#digest.update(bytes)
    for (let written = 0; written < bytes.length;) written += writeSync(this.#fd, bytes, written)
    this.size += bytes.length
  }
}

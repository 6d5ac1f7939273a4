/** The number of pieces that are joined at a time: a process may write single bytes, and each buffer has an overhead. */
const JOINED = 1000

/** Collects bytes that arrive in pieces. */
export class Pieces {
  #joined: Buffer[] = []
  #pieces: Buffer[] = []

  /** The bytes collected. */
  size = 0

  push(piece: Buffer): void {
    this.size += piece.length
    this.#pieces.push(piece)
    if (this.#pieces.length < JOINED) return
    this.#joined.push(Buffer.concat(this.#pieces))
    this.#pieces = []
  }

  /** Returns all bytes and forgets them. */
  take(): Buffer {
    const all = Buffer.concat([...this.#joined, ...this.#pieces])
    this.#joined = []
    this.#pieces = []
    this.size = 0
    return all
  }
}

/** What an answer takes beside its bytes. */
const OVERHEAD = 128

/**
 * Answers kept for as long as nothing is written, bounded by their bytes. The least recently used go first.
 */
export class AnswerCache<T extends { readonly json: Uint8Array }> {
  readonly #maxBytes: number
  readonly #answers = new Map<string, T>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get(key: string): T | undefined {
    const answer = this.#answers.get(key)
    if (answer === undefined) return undefined
    this.#answers.delete(key)
    this.#answers.set(key, answer)
    return answer
  }

  set(key: string, answer: T): void {
    const bytes = bytesOf(key, answer)
    // One answer must not push all others out.
    if (bytes > this.#maxBytes / 8 || this.#answers.has(key)) return
    this.#answers.set(key, answer)
    this.#bytes += bytes
    for (const [oldest, old] of this.#answers) {
      if (this.#bytes <= this.#maxBytes) return
      this.#answers.delete(oldest)
      this.#bytes -= bytesOf(oldest, old)
    }
  }

  clear(): void {
    this.#answers.clear()
    this.#bytes = 0
  }
}

function bytesOf(key: string, { json }: { readonly json: Uint8Array }): number {
  return json.byteLength + 2 * key.length + OVERHEAD
}

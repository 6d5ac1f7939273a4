/**
 * Answers kept for as long as nothing is written, bounded by the bytes of their text. The least recently used go
 * first.
 */
export class AnswerCache<T extends { readonly length: number } | null> {
  readonly #maxLength: number
  readonly #answers = new Map<string, T>()
  #length = 0

  /** @param maxLength the sum of the answers' lengths, in characters. */
  constructor(maxLength: number) {
    this.#maxLength = maxLength
  }

  get(key: string): T | undefined {
    const answer = this.#answers.get(key)
    if (answer === undefined) return undefined
    this.#answers.delete(key)
    this.#answers.set(key, answer)
    return answer
  }

  set(key: string, answer: T): void {
    const length = size(key, answer)
    if (length > this.#maxLength / 8) return
    this.#answers.set(key, answer)
    this.#length += length
    for (const [oldest, old] of this.#answers) {
      if (this.#length <= this.#maxLength) return
      this.#answers.delete(oldest)
      this.#length -= size(oldest, old)
    }
  }

  clear(): void {
    this.#answers.clear()
    this.#length = 0
  }
}

function size(key: string, answer: { readonly length: number } | null): number {
  return key.length + (answer?.length ?? 0) + 64
}

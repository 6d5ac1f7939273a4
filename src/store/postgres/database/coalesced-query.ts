/** A question to the database that many ask at once. */
export class SharedQuestion<T> {
  readonly #put: () => Promise<T>
  #asked: Promise<T> | null = null
  #next: Promise<T> | null = null

  constructor(put: () => Promise<T>) {
    this.#put = put
  }

  /** Whoever asks while others wait for an answer shares the next question, which is put after all of them asked. */
  ask(): Promise<T> {
    return (this.#next ??= this.#ask())
  }

  async #ask(): Promise<T> {
    await this.#asked?.catch(() => undefined)
    this.#asked = this.#next
    this.#next = null
    return this.#put()
  }
}

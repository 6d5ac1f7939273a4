import type { KeptNote } from '../../store/stored-responses.ts'
import type { KeptCalls } from '../run-request.ts'

/** Counts the calls for one target that a kept response replaces. */
export class KeptCount {
  readonly #requests = new Set<string>()
  #oldest = ''
  #newest = ''

  /** Adds a call; `request` identifies equal requests, which count once. */
  add(request: string, { at }: Pick<KeptNote, 'at'>): void {
    this.#requests.add(request)
    if (this.#oldest === '' || at < this.#oldest) this.#oldest = at
    if (at > this.#newest) this.#newest = at
  }

  get calls(): KeptCalls {
    return { calls: this.#requests.size, oldest: this.#oldest, newest: this.#newest }
  }
}

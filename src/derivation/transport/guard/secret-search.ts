import { isJsonObject } from '../../../contract/json/json.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import { BODY_LIMIT } from '../call/network-fault.ts'
import { SECRET_LENGTH } from './secret-guard.ts'
import type { SecretGuard } from './secret-guard.ts'

/** The verdict on a value: it contains no secret, it repeats one, or it was not searched, since the search has ended. */
export type Verdict = 'clean' | 'repeats' | 'not-searched'

/**
 * Searches the values of one response for secrets. The response decides how much there is to search, and the derivation how often. Each
 * value is searched once, however many targets it is for, and all together up to 10 MiB, which takes a few tenths of a second. A body has
 * no more, so only nested values, and long lists of numbers such as 1e20, can exceed that; beyond it nothing is searched.
 */
export class SecretSearch {
  readonly #guard: SecretGuard
  readonly #known = new Map<JsonValue, Verdict>()
  #room = BODY_LIMIT

  constructor(guard: SecretGuard) {
    this.#guard = guard
  }

  verdict(value: JsonValue): Verdict {
    if (this.#guard.hasNothingToFind) return 'clean'
    const known = this.#known.get(value)
    if (known !== undefined) return known
    const verdict = this.#search(value)
    this.#known.set(value, verdict)
    return verdict
  }

  #search(value: JsonValue): Verdict {
    const texts = new Texts(this.#room)
    const isWhole = texts.add(value)
    this.#room = texts.room
    if (!isWhole) return 'not-searched'
    return this.#guard.isIn(texts.joined()) ? 'repeats' : 'clean'
  }
}

/** The texts in a value, up to a limit. */
class Texts {
  /** Joined, so that consecutive pieces of a secret meet. */
  readonly #inLine: string[] = []
  /** Numbers and keys. */
  readonly #apart: string[] = []
  #room: number

  /** `room`: the limit of characters and values together. */
  constructor(room: number) {
    this.#room = room
  }

  /** The rest of the limit; 0 once it was exceeded. */
  get room(): number {
    return Math.max(0, this.#room)
  }

  /** Adds a value with all nested values; false if that exceeds the limit. */
  add(value: JsonValue): boolean {
    if (!this.#take(1)) return false
    if (typeof value === 'string') return this.#put(value, this.#inLine)
    if (typeof value === 'number') return isShort(value) || this.#put(String(value), this.#apart)
    if (Array.isArray(value)) return (value as readonly JsonValue[]).every((item) => this.add(item))
    if (!isJsonObject(value)) return true
    for (const key in value) {
      if (!this.#put(key, this.#apart) || !this.add(value[key] ?? null)) return false
    }
    return true
  }

  joined(): string {
    return [this.#inLine.join(''), ...this.#apart].join('\n')
  }

  #put(text: string, texts: string[]): boolean {
    texts.push(text)
    return this.#take(text.length)
  }

  #take(size: number): boolean {
    this.#room -= size
    return this.#room >= 0
  }
}

/** Whether a number has fewer digits than any secret has characters; most do. */
function isShort(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) < 10 ** (SECRET_LENGTH - 1)
}

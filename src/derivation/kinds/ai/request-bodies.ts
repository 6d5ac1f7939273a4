import { randomUUID } from 'node:crypto'
import type { Adapter, Turn } from './adapters/adapter.ts'
import type { AiSpec } from './ai-spec.ts'

/** The text of the turn in the body from which the constant parts are taken. */
const MARK = randomUUID()

/**
 * Serializes the requests of a derivation. All but the prompt is the same in each first request, and serialized once: instructions and
 * schema are far longer than most prompts.
 */
export class RequestBodies {
  readonly #api: Adapter
  readonly #spec: AiSpec
  readonly #parts: readonly string[]

  constructor(api: Adapter, spec: AiSpec) {
    this.#api = api
    this.#spec = spec
    this.#parts = this.#whole([{ role: 'user', text: MARK }]).split(JSON.stringify(MARK))
  }

  /** Returns the body of a request, as JSON text. */
  of(turns: readonly Turn[]): string {
    const [before, after, ...others] = this.#parts
    const [prompt, ...more] = turns
    if (prompt === undefined || after === undefined || more.length + others.length > 0)
      return this.#whole(turns)
    return `${before}${JSON.stringify(prompt.text)}${after}`
  }

  #whole(turns: readonly Turn[]): string {
    return JSON.stringify(this.#api.body({ ...this.#spec, turns }))
  }
}

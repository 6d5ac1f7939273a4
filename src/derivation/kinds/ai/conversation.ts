import type { JsonObject } from '../../../contract/json/json.ts'
import type { Failure } from '../../../errors/failure.ts'
import { err } from '../../../errors/result.ts'
import type { Computed, Plan, TokenEstimate } from '../../definition/derivation-kind.ts'
import type { TransportResponse } from '../../transport/call/transport.ts'
import type { SecretGuard } from '../../transport/guard/secret-guard.ts'
import { SecretSearch } from '../../transport/guard/secret-search.ts'
import { excerptOf } from '../../transport/response/error-body.ts'
import type { RecordedUsage } from '../../../store/cell-work.ts'
import type { AiSpec } from './ai-spec.ts'
import type { Reply, Turn } from './adapters/adapter.ts'
import { costOf, mostOf, sumOf, tokensIn, type TokenPrices, type Usage } from './models/price.ts'
import { REPAIR_BYTES, repairText } from './prompt.ts'
import { readAnswer, type Answer } from './read-answer.ts'

/** A prompt for one record. */
export interface AiPlan extends Plan {
  readonly prompt: string
  readonly url: string
  /** Bytes of the prompt. */
  readonly promptBytes: number
  /** The most dollars that both attempts can cost; null for an unknown price. */
  readonly most: number | null
}

/** Bytes of an answer, in a request for another one, for each output token. */
const ECHO_BYTES_PER_TOKEN = 4

/** Most characters of names in provenance. */
const NAME_LENGTH = 200

/** The messages of one computation, with what they cost. */
export class Conversation {
  readonly spec: AiSpec
  readonly plan: AiPlan
  readonly guard: SecretGuard
  readonly #turns: Turn[]
  #answer: Answer = { values: {}, violations: [] }
  #last: Reply | null = null
  readonly #usages: (Usage | null)[] = []
  #durationMs = 0
  /** Requests that were sent. */
  attempts = 0
  /** Whether a request was sent whose cost is not known: neither its usage is, nor a status that costs nothing. */
  isOpen = false

  constructor({ spec, plan, guard }: Pick<Conversation, 'spec' | 'plan' | 'guard'>) {
    this.spec = spec
    this.plan = plan
    this.guard = guard
    this.#turns = [{ role: 'user', text: plan.prompt }]
  }

  get turns(): readonly Turn[] {
    return this.#turns
  }

  /** Adds a response; null for one that is none of the API. */
  add({ json, text, durationMs }: TransportResponse, reply: Reply | null): Answer {
    const { spec, plan, guard } = this
    this.#durationMs += durationMs
    this.#usages.push(reply?.usage ?? null)
    this.isOpen = false
    this.#last = reply
    const { request } = plan
    const isClean = new SecretSearch(guard).verdict(json) === 'clean'
    if (!isClean) {
      const detail = 'the response repeats a secret of the request, or is beyond what is searched for secrets'
      this.#answer = failedAnswer(spec, { reason: 'network', request, detail })
      this.#last = reply === null ? null : { ...reply, id: null, model: null, finish: null }
    } else if (reply === null) {
      const responseBody = excerptOf(text, guard)
      const detail = `the response is not one of the API ${spec.model.api}`
      this.#answer = failedAnswer(spec, { reason: 'unusable_answer', request, detail, responseBody })
    } else {
      const excerpt = (): string => excerptOf(reply.text === '' ? reply.refusal : reply.text, guard)
      this.#answer = readAnswer(reply, { form: spec.form, fields: spec.fields, request, excerpt })
      this.#addRepair(reply.text)
    }
    return this.#answer
  }

  /** Whether another answer is to be asked for: once, and only within what is reserved. */
  mayRepair({ violations }: Answer): boolean {
    if (violations.length === 0 || this.#usages.length > 1) return false
    const { price } = this.spec.model
    if (price === null) return true
    const [usage] = this.#usages
    const spent = usage === undefined || usage === null ? null : costOf(usage, price)
    return spent !== null && sumOf([spent, this.#mostOfNext(price)]) <= (this.plan.most ?? 0)
  }

  /** The result of a request that failed at no cost: the cost is that of the request before it. */
  failed(failure: Failure): Computed {
    const cost = this.#usages.length === 0 ? 0 : (this.computed().cost ?? null)
    return { values: failedAnswer(this.spec, failure).values, evidence: {}, cost }
  }

  computed(): Computed {
    const { price } = this.spec.model
    const used = this.#usages.filter((usage) => usage !== null)
    const costs = price === null ? [null] : this.#usages.map((usage) => usage && costOf(usage, price))
    const isKnown = !this.isOpen && costs.every((cost) => cost !== null)
    // An unknown amount is the one that was reserved.
    const cost = isKnown ? sumOf(costs) : this.plan.most
    const total = (name: keyof Usage): number => used.reduce((sum, usage) => sum + usage[name], 0)
    const isCounted = !this.isOpen && used.length === this.#usages.length
    return {
      values: this.#answer.values,
      usage: isCounted
        ? {
            input: total('input'),
            cached: total('cached'),
            written: total('written'),
            output: total('output'),
          }
        : undefined,
      evidence: {
        ...this.#reported(),
        ...(used.length > 0 && {
          'gen_ai.usage.input_tokens': total('input'),
          'gen_ai.usage.cache_read.input_tokens': total('cached'),
          ...(total('written') > 0 && { 'gen_ai.usage.cache_creation.input_tokens': total('written') }),
          'gen_ai.usage.output_tokens': total('output'),
        }),
        cost,
        attempts: this.attempts,
        duration_ms: this.#durationMs,
      },
      cost,
    }
  }

  /** The names that the last response gives. */
  #reported(): JsonObject {
    const { model = null, id = null, finish = null } = this.#last ?? {}
    return {
      ...(model !== null && { 'gen_ai.response.model': shortened(model) }),
      ...(id !== null && { 'gen_ai.response.id': shortened(id) }),
      ...(finish !== null && { 'gen_ai.response.finish_reasons': [shortened(finish)] }),
    }
  }

  #mostOfNext(price: TokenPrices): number {
    const bytes = this.#turns.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
    return mostOf(this.spec.constantBytes + bytes, this.spec.maxOutputTokens, price)
  }

  #addRepair(text: string): void {
    const { violations } = this.#answer
    if (violations.length === 0 || this.#usages.length > 1) return
    const { form, maxOutputTokens } = this.spec
    this.#turns.push(
      { role: 'assistant', text: startOf(text.trim(), maxOutputTokens * ECHO_BYTES_PER_TOKEN) },
      { role: 'user', text: repairText(violations, form) },
    )
  }
}

function failedAnswer({ fields }: AiSpec, failure: Failure): Answer {
  return { values: Object.fromEntries(fields.map(({ name }) => [name, err(failure)])), violations: [] }
}

/** Bytes of a value in an answer, on average. */
const VALUE_BYTES = 24

/** The fewest results whose mean is a better estimate than the length of a prompt. */
const ENOUGH_RESULTS = 20

/** Returns the usual use of a computation: the mean of recorded ones, or without enough of them four bytes a token, and short values. */
export function expectedOf(
  spec: AiSpec,
  { promptBytes }: AiPlan,
  recorded: RecordedUsage | null,
): TokenEstimate {
  const { constantBytes, fields, maxOutputTokens, model } = spec
  if (recorded !== null && recorded.results >= ENOUGH_RESULTS) {
    const mean = (name: keyof Usage): number => (recorded.amounts[name] ?? 0) / recorded.results
    const usage = {
      input: mean('input'),
      cached: mean('cached'),
      written: mean('written'),
      output: mean('output'),
    }
    const cost = model.price === null ? null : costOf(usage, model.price)
    return { inputTokens: usage.input, outputTokens: usage.output, cost, recorded }
  }
  const input = tokensIn(constantBytes + promptBytes)
  const bytes = fields.reduce((sum, { name }) => sum + Buffer.byteLength(name) + VALUE_BYTES, 0)
  const output = Math.min(maxOutputTokens, tokensIn(bytes))
  const cost = model.price === null ? null : costOf({ input, cached: 0, written: 0, output }, model.price)
  return { inputTokens: input, outputTokens: output, cost, recorded: null }
}

/** Returns the most that both attempts can cost. */
export function mostOfBoth(spec: AiSpec, promptBytes: number, price: TokenPrices): number {
  const { constantBytes, maxOutputTokens } = spec
  const bytes = constantBytes + promptBytes
  const echo = maxOutputTokens * ECHO_BYTES_PER_TOKEN + REPAIR_BYTES
  return sumOf([mostOf(bytes, maxOutputTokens, price), mostOf(bytes + echo, maxOutputTokens, price)])
}

/** Returns a name that a response gives, as every store takes it: a host decides on it. */
function shortened(name: string): string {
  return name.replaceAll(/\p{C}/gu, '\u{fffd}').slice(0, NAME_LENGTH)
}

/** Returns the start of a text with at most this many bytes. */
function startOf(text: string, bytes: number): string {
  const all = Buffer.from(text, 'utf8')
  if (all.length <= bytes) return text
  return new TextDecoder().decode(all.subarray(0, bytes), { stream: true })
}

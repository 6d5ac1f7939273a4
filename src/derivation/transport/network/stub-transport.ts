import { isJsonObject } from '../../../contract/json/json.ts'
import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import { showValue } from '../../../contract/json/show-value.ts'
import { err, ok } from '../../../errors/result.ts'
import { ValidationError } from '../../../errors/service-error.ts'
import { didYouMean } from '../../definition/did-you-mean.ts'
import { resultOf } from './result-of.ts'
import { parseJson } from '../response/parse-json.ts'
import { HTTP_METHODS, requestLabel } from '../call/transport.ts'
import type { SendOptions, SendResult, Transport, TransportRequest } from '../call/transport.ts'

/** The prepared responses of a stub. */
export interface StubResponses {
  /** By the exact text `<METHOD> <URL>`. */
  readonly responses: ReadonlyMap<string, JsonValue>
  /** Statuses of responses without a body, by the same text. */
  readonly statuses?: ReadonlyMap<string, number>
  /** The answers of models; the first that fits a prompt is taken. */
  readonly answers?: readonly StubAnswer[]
  /** Makes the response to any other request; undefined makes it fail (D41). */
  readonly fallback?: (request: TransportRequest) => JsonValue | undefined
}

/** A prepared answer of a model. */
export interface StubAnswer {
  /** The model that gives it; null for each. */
  readonly model: string | null
  /** A part of the prompts that get it; empty for each. */
  readonly prompt: string
  readonly answer: string
}

/** A transport that never leaves the process: it returns prepared payloads with status 200 (H6, D41). */
export class StubTransport implements Transport {
  readonly #stub: StubResponses

  constructor(stub: StubResponses) {
    this.#stub = stub
  }

  async send(request: TransportRequest, { signal, onSent, accepts }: SendOptions): Promise<SendResult> {
    signal.throwIfAborted()
    onSent?.()
    const label = requestLabel(request)
    const status = this.#stub.statuses?.get(label)
    if (status !== undefined) return resultOf({ request, status, text: '', durationMs: 0 }, accepts)
    const json = this.#stub.responses.get(label) ?? this.#unprepared(label, request)
    if (json === undefined) return err({ reason: 'no_stub_response', request: label })
    return ok({ status: 200, json, text: JSON.stringify(json), durationMs: 0 })
  }

  #unprepared(label: string, request: TransportRequest): JsonValue | undefined {
    // A prepared null is a response too.
    if (this.#stub.responses.has(label)) return null
    return this.#answer(request) ?? this.#stub.fallback?.(request)
  }

  #answer({ prompt }: TransportRequest): JsonValue | undefined {
    if (prompt === undefined) return undefined
    const found = this.#stub.answers?.find(
      (each) => (each.model ?? prompt.model) === prompt.model && prompt.text.includes(each.prompt),
    )
    return found === undefined ? undefined : prompt.responseOf(found.answer)
  }

  /** Nothing is called in any case. */
  refusal(): null {
    return null
  }

  async close(): Promise<void> {}
}

/** Reads the file of `serve --stub` (D41). Throws ValidationError. */
export function parseStub(text: string): StubTransport {
  const stub = parseJson(text.replace(/^\uFEFF/, ''))
  if (!isJsonObject(stub)) {
    throw new ValidationError(
      'the stub file is not JSON of the form {"responses": {"GET https://…": payload, …}}',
      'invalid_stub',
    )
  }
  for (const key of Object.keys(stub)) {
    const known = ['responses', 'statuses', 'answers', 'fallback']
    if (known.includes(key)) continue
    const hint = didYouMean(key, known)
    throw new ValidationError(
      `the stub file has the unknown key "${key}"; it has responses, statuses, answers and fallback${hint}`,
      'invalid_stub',
    )
  }
  const responses = preparedOf('responses', stub)
  const statuses = [...preparedOf('statuses', stub)].map(
    ([key, status]) => [key, statusOf(key, status)] as const,
  )
  const prepared = { responses, statuses: new Map(statuses), answers: answersOf(stub) }
  if (!Object.hasOwn(stub, 'fallback')) return new StubTransport(prepared)
  return new StubTransport({ ...prepared, fallback: () => stub['fallback'] })
}

/** Reads a member whose keys are requests. */
function preparedOf(name: 'responses' | 'statuses', stub: JsonObject): Map<string, JsonValue> {
  const prepared = Object.hasOwn(stub, name) ? stub[name] : {}
  if (!isJsonObject(prepared)) {
    const value = name === 'responses' ? 'payload' : 'status'
    throw new ValidationError(
      `"${name}" of the stub file is not an object of "<METHOD> <URL>": ${value}`,
      'invalid_stub',
    )
  }
  for (const key of Object.keys(prepared)) {
    const [method] = key.split(' ', 1)
    if (HTTP_METHODS.some((known) => known === method) && key.length > `${method} `.length) continue
    throw new ValidationError(`"${key}" in the stub file is not of the form "<METHOD> <URL>"`, 'invalid_stub')
  }
  return new Map(Object.entries(prepared))
}

const ANSWER_KEYS = ['model', 'prompt', 'answer']

function answersOf(stub: JsonObject): readonly StubAnswer[] {
  const answers = Object.hasOwn(stub, 'answers') ? stub['answers'] : []
  if (!Array.isArray(answers)) {
    throw new ValidationError('"answers" of the stub file is not a list', 'invalid_stub')
  }
  return (answers as readonly JsonValue[]).map((entry) => {
    const { model = null, prompt = '', answer } = isJsonObject(entry) ? entry : {}
    const isKnown = isJsonObject(entry) && Object.keys(entry).every((key) => ANSWER_KEYS.includes(key))
    if (
      !isKnown ||
      answer === undefined ||
      !(model === null || typeof model === 'string') ||
      typeof prompt !== 'string'
    ) {
      throw new ValidationError(
        `${showValue(entry)} in "answers" of the stub file is not of the form {"model": name, "prompt": part of a prompt, "answer": text or JSON}`,
        'invalid_stub',
      )
    }
    return { model, prompt, answer: typeof answer === 'string' ? answer : JSON.stringify(answer) }
  })
}

function statusOf(key: string, value: JsonValue): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 201 && value <= 599) return value
  throw new ValidationError(
    `"${key}" in the stub file has the status ${showValue(value)}; a status is a whole number from 201 to 599`,
    'invalid_stub',
  )
}

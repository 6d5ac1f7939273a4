import { isJsonObject } from '../../../contract/json.ts'
import type { JsonValue } from '../../../contract/json.ts'
import { err, ok } from '../../../errors/result.ts'
import { ValidationError } from '../../../errors/service-error.ts'
import { didYouMean } from '../../did-you-mean.ts'
import { parseJson } from './parse-json.ts'
import { HTTP_METHODS, requestLabel } from './transport.ts'
import type { SendOptions, SendResult, Transport, TransportRequest } from './transport.ts'

/** What a stub answers with. */
export interface StubResponses {
  /** By the exact text `<METHOD> <URL>`. */
  readonly responses: ReadonlyMap<string, JsonValue>
  /** Answers requests without a response; undefined leaves them to fail (D41). */
  readonly fallback?: (request: TransportRequest) => JsonValue | undefined
}

/** A transport that never leaves the process: answers with prepared payloads and status 200 (H6, D41). */
export class StubTransport implements Transport {
  readonly #stub: StubResponses

  constructor(stub: StubResponses) {
    this.#stub = stub
  }

  async send(request: TransportRequest, { signal, onSent }: SendOptions): Promise<SendResult> {
    signal.throwIfAborted()
    onSent?.()
    const label = requestLabel(request)
    const json = this.#stub.responses.get(label) ?? this.#unprepared(label, request)
    if (json === undefined) return err({ reason: 'no-stub-response', request: label })
    return ok({ status: 200, json, text: JSON.stringify(json), durationMs: 0 })
  }

  #unprepared(label: string, request: TransportRequest): JsonValue | undefined {
    // A prepared null is an answer too.
    return this.#stub.responses.has(label) ? null : this.#stub.fallback?.(request)
  }

  /** Nothing is called anyway. */
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
    )
  }
  for (const key of Object.keys(stub)) {
    if (key === 'responses' || key === 'fallback') continue
    const hint = didYouMean(key, ['responses', 'fallback'])
    throw new ValidationError(
      `the stub file has the unknown key "${key}"; it has responses and fallback${hint}`,
    )
  }
  const responses = Object.hasOwn(stub, 'responses') ? stub['responses'] : {}
  if (!isJsonObject(responses)) {
    throw new ValidationError('"responses" of the stub file is not an object of "<METHOD> <URL>": payload')
  }
  for (const key of Object.keys(responses)) {
    const [method] = key.split(' ', 1)
    if (HTTP_METHODS.some((known) => known === method) && key.length > `${method} `.length) continue
    throw new ValidationError(`"${key}" in the stub file is not of the form "<METHOD> <URL>"`)
  }
  const prepared = new Map(Object.entries(responses))
  if (!Object.hasOwn(stub, 'fallback')) return new StubTransport({ responses: prepared })
  return new StubTransport({ responses: prepared, fallback: () => stub['fallback'] })
}

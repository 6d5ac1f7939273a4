import { hash } from 'node:crypto'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import type { Failure } from '../../errors/failure.ts'

/** A request without secrets: `{{ env.NAME }}` stands for the value of an environment variable. */
export interface SentRequest {
  readonly method: string
  readonly url: string
  /** The headers of the derivation, or of its model, by name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** The derivation file and the record for which a call is made; of several records the first. */
export interface CallOrigin {
  readonly derivation: string
  readonly recordId: string
}

/** A try of a call that failed. */
export interface FailedTry {
  readonly reason: Failure['reason']
  /** The status of the response; null for none. */
  readonly status: number | null
  /** The wait that the host asked for, in milliseconds; null for none. */
  readonly retryAfterMs: number | null
}

/** The response to a call: status, duration in milliseconds, and body, which is null where it repeats a secret of the request. */
export interface RecordedResponse {
  readonly status: number
  readonly durationMs: number
  readonly body: string | null
}

/** A call with its result, as a recording has it. */
export interface RecordedCall {
  readonly origin: CallOrigin
  readonly request: SentRequest
  /** The failed tries, in their order. */
  readonly tries: readonly FailedTry[]
  readonly answer: RecordedResponse | { readonly failure: Failure }
}

/** A line of a recording. */
export interface RecordedLine extends RecordedCall {
  /** The id of the run; `preview` for a preview. */
  readonly run: string
}

/** Returns the key that equal requests have. The names of headers count in any case and order. */
export function keyOfRequest({ method, url, headers, body }: SentRequest): string {
  const sent = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return hash('sha256', JSON.stringify([method, url, sent.toSorted(byName), body]), 'base64')
}

/** Whether a call of a run may answer a request of another: that run is not later, or it is a preview. */
export function mayAnswer(ofCall: string, run: string): boolean {
  return ofCall === PREVIEW || Number(ofCall) <= Number(run)
}

/** The run of calls of previews. */
const PREVIEW = 'preview'

function byName([one = '']: readonly string[], [other = '']: readonly string[]): number {
  return one < other ? -1 : 1
}

/** Returns the text of a line, JSON without a line break. */
export function recordedLine({ run, origin, request, tries, answer }: RecordedLine): string {
  return JSON.stringify({
    run,
    derivation: origin.derivation,
    record_id: origin.recordId,
    request,
    ...(tries.length > 0 && {
      tries: tries.map(({ reason, status, retryAfterMs }) => ({
        reason,
        ...(status !== null && { status }),
        ...(retryAfterMs !== null && { retry_after_ms: retryAfterMs }),
      })),
    }),
    ...('failure' in answer
      ? { failure: answer.failure }
      : {
          response: {
            status: answer.status,
            duration_ms: answer.durationMs,
            ...(answer.body === null ? { withheld: true } : { body: answer.body }),
          },
        }),
  })
}

/** Reads a line; null for what is none. The failed tries are for people, and are not read. */
export function readRecordedLine(text: string): RecordedLine | null {
  const line = parsed(text)
  if (!isJsonObject(line)) return null
  const { run, derivation, record_id: recordId, request: sent, response, failure } = line
  const request = requestOf(sent)
  const answer = isJsonObject(failure) ? failureOf(failure) : responseOf(response)
  if (typeof run !== 'string' || typeof derivation !== 'string' || typeof recordId !== 'string') return null
  if (request === null || answer === null) return null
  return { run, origin: { derivation, recordId }, request, tries: [], answer }
}

/** Returns the text of a line about a cell that was computed by a call which is not recorded. */
export function notRecordedLine({ recordId, field }: UncoveredCell): string {
  return JSON.stringify({ not_recorded: { record_id: recordId, field } })
}

/** Reads a line of {@link notRecordedLine}; null for what is none. */
export function readNotRecorded(text: string): UncoveredCell | null {
  if (!text.startsWith('{"not_recorded":')) return null
  const line = parsed(text)
  const cell = isJsonObject(line) ? line['not_recorded'] : null
  if (!isJsonObject(cell)) return null
  const { record_id: recordId, field } = cell
  return typeof recordId === 'string' && typeof field === 'string' ? { recordId, field } : null
}

/** A cell that was computed by a call which is not recorded. */
interface UncoveredCell {
  readonly recordId: string
  readonly field: string
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function requestOf(sent: JsonValue | undefined): SentRequest | null {
  if (!isJsonObject(sent)) return null
  const { method, url, headers, body } = sent
  if (typeof method !== 'string' || typeof url !== 'string' || !isJsonObject(headers)) return null
  if (!(body === null || typeof body === 'string')) return null
  const texts = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  )
  return { method, url, headers: Object.fromEntries(texts), body }
}

function responseOf(response: JsonValue | undefined): RecordedResponse | null {
  if (!isJsonObject(response)) return null
  const { status, duration_ms: durationMs, body, withheld } = response
  if (typeof status !== 'number' || typeof durationMs !== 'number') return null
  if (withheld === true) return { status, durationMs, body: null }
  return typeof body === 'string' ? { status, durationMs, body } : null
}

/** The member that a failure of a call has, by its reason, and its type; null for none. */
const FAILURES: ReadonlyMap<JsonValue | undefined, readonly [name: string, type: string] | null> = new Map([
  ['status', ['status', 'number']],
  ['timeout', ['seconds', 'number']],
  ['network', ['detail', 'string']],
  ['malformed_json', null],
  ['no_stub_response', null],
])

function failureOf(failure: JsonObject): RecordedCall['answer'] | null {
  const { reason, request, responseBody = '' } = failure
  const member = FAILURES.get(reason)
  if (member === undefined || typeof request !== 'string' || typeof responseBody !== 'string') return null
  if (member !== null && typeof failure[member[0]] !== member[1]) return null
  return { failure: failure as unknown as Failure }
}

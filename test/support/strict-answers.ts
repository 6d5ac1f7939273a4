import assert from 'node:assert/strict'
import { ERROR_CODES, type ErrorCode } from '../../src/errors/codes.ts'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { STATUS } from '../../src/http/response/render-error.ts'

/** A response of the service as received over a socket. */
export interface StrictAnswer {
  readonly status: number
  /** By name in lower case; a repeated header is an error. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })
const HEADER = /^([!#$%&'*+.^_`|~0-9a-z-]+): ([\x20-\x7e]*)$/i

/** Parses responses in a stream of bytes, and refuses any that is not well-formed HTTP/1.1 (RFC 9112). */
export class AnswerParser {
  #bytes: Buffer = Buffer.alloc(0)

  /** Bytes of an incomplete response. */
  get rest(): number {
    return this.#bytes.length
  }

  push(bytes: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes])
  }

  /** Returns the next response to a request with this method, without interim ones; undefined while it is incomplete. */
  next(method: string): StrictAnswer | 'stream' | undefined {
    for (;;) {
      const end = this.#bytes.indexOf('\r\n\r\n')
      if (end === -1) return undefined
      const { status, headers } = parseHead(this.#bytes.toString('latin1', 0, end))
      if (status < 200) {
        assert.equal(status, 100)
        this.#bytes = this.#bytes.subarray(end + 4)
        continue
      }
      const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true
      if (isStream && method !== 'HEAD') return 'stream'
      const length = headers.get('content-length')
      // A 304 has no body, and so no length; a stream has none either.
      if (status === 304 || isStream) assert.equal(length, undefined, 'a length of nothing')
      else assert.match(length ?? '', /^[0-9]+$/, 'an answer without a length')
      const size = method === 'HEAD' || status === 304 ? 0 : Number(length)
      const start = end + 4
      if (this.#bytes.length < start + size) return undefined
      const body = UTF8.decode(decode(this.#bytes.subarray(start, start + size), headers))
      this.#bytes = this.#bytes.subarray(start + size)
      return { status, headers, body }
    }
  }
}

/** Returns the body before its compression. */
function decode(bytes: Buffer, headers: StrictAnswer['headers']): Buffer {
  if (bytes.length === 0) return bytes
  switch (headers.get('content-encoding')) {
    case 'gzip':
      return gunzipSync(bytes)
    case 'br':
      return brotliDecompressSync(bytes)
    default:
      return bytes
  }
}

function parseHead(text: string): Pick<StrictAnswer, 'status' | 'headers'> {
  const [line = '', ...lines] = text.split('\r\n')
  const status = /^HTTP\/1\.1 ([1-5][0-9][0-9]) [\x20-\x7e]*$/.exec(line)?.[1]
  assert.ok(status !== undefined, `a status line ${JSON.stringify(line)}`)
  const headers = new Map<string, string>()
  for (const header of lines) {
    const [, name = '', value = ''] = HEADER.exec(header) ?? assert.fail(`a header ${JSON.stringify(header)}`)
    assert.ok(!headers.has(name.toLowerCase()), `two headers ${name}`)
    headers.set(name.toLowerCase(), value)
  }
  return { status: Number(status), headers }
}

/** The statuses of an error type: its own, and those of D36 for errors of HTTP messages. */
const STATUSES: Readonly<Record<string, readonly number[]>> = {
  ...Object.fromEntries(Object.entries(STATUS).map(([type, status]) => [type, [status]])),
  ValidationError: [400, 408, 413, 414, 415, 431],
  OperationError: [400, 405, 409, 412, 503],
}

const COOKIE = /^svc_csrf=[A-Za-z0-9_-]{43}; Path=\/; SameSite=Strict$/

/** Longest message: a hundred errors of a batch, each with an id and a value of some eighty characters. */
const MAX_MESSAGE = 60_000

/** Matches texts that no response may contain: paths of the machine and internals of the program. */
const INSIDES = /\/node_modules\/|node:internal|\.ts:\d|\n\s+at |\/(?:tmp|home|root|work)\//

const JSON_TYPE = 'application/json; charset=utf-8'
const NDJSON = 'application/x-ndjson'
const PROBLEM = 'application/problem+json; charset=utf-8'
const TYPES = [JSON_TYPE, NDJSON]
const ERROR_TYPES = [JSON_TYPE, PROBLEM]

interface Envelope {
  readonly error: { readonly type: string; readonly message: string }
}

function parse(text: string): unknown {
  return JSON.parse(text)
}

/** Returns problem details (RFC 9457) in the form of the envelope. */
function asEnvelope(value: unknown, answered: number): Envelope {
  const { type, title, code, status, detail, violations, violation_count, ...others } = value as Record<
    string,
    unknown
  >
  assert.deepEqual([type, status, others], [`/docs#${String(title)}`, answered, {}])
  if (violations !== undefined) {
    assert.ok(['invalid_records', 'write_not_permitted'].includes(String(code)), String(code))
    const listed = violations as readonly Readonly<Record<string, unknown>>[]
    assert.ok(listed.length > 0 && listed.length <= Number(violation_count))
    for (const { index, field, message, ...more } of listed)
      assert.deepEqual([typeof index, typeof field, typeof message, more], ['number', 'string', 'string', {}])
  }
  assert.equal(ERROR_CODES[code as ErrorCode].type, title)
  return { error: { type: String(title), message: String(detail) } }
}

/** Asserts the properties of every response to any request (D36). */
export function checkAnswer({ status, headers, body }: StrictAnswer, method: string): void {
  assert.notEqual(status, 500, body)
  for (const name of headers.keys()) assert.doesNotMatch(name, /^access-control-/)
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.equal(headers.get('cache-control'), 'private, no-cache')
  if (status === 304) {
    assert.equal(body, '')
    assert.match(headers.get('etag') ?? '', /^(?:W\/)?"[^"]+"$/)
    return
  }
  // The headers of a stream, the documentation, and the viewer if it is built.
  if (method === 'HEAD' && headers.get('content-type')?.startsWith('text/event-stream') === true) return
  if (status === 200 && headers.get('content-type')?.startsWith('text/html') === true) return
  const type = headers.get('content-type') ?? ''
  assert.ok(status < 300 ? TYPES.includes(type) : ERROR_TYPES.includes(type), `${status} ${type}`)
  const cookie = headers.get('set-cookie')
  if (cookie !== undefined) assert.match(cookie, COOKIE)
  if (method === 'HEAD') return
  const values: unknown[] = type === NDJSON ? body.split('\n').slice(0, -1).map(parse) : [parse(body)]
  if (status === 200 || status === 202) return
  const { error, ...others } = type === PROBLEM ? asEnvelope(values[0], status) : (values[0] as Envelope)
  assert.deepEqual([Object.keys(others), Object.keys(error)], [[], ['type', 'message']])
  assert.ok(STATUSES[error.type]?.includes(status), `${status} ${error.type}`)
  assert.equal(typeof error.message, 'string')
  assert.ok(error.message.length > 0 && error.message.length < MAX_MESSAGE)
  assert.ok(error.message.isWellFormed())
  assert.doesNotMatch(error.message, INSIDES)
  if (status === 405) assert.match(headers.get('allow') ?? '', /^[A-Z]+(?:, [A-Z]+)*$/)
}

import type { CsrfAnswer } from '../wire/service/csrf.ts'
import type { ErrorEnvelope } from '../wire/service/error-envelope.ts'
import type { Problem } from '../wire/service/problem.ts'
import { ApiError } from './api-error.ts'

/** Query parameters; undefined, null and empty texts are omitted, lists are joined by commas. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call: its promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

export interface Sending extends CallOptions {
  readonly query?: Query
  /** Sent as JSON; a `Blob` as it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface ActorOptions extends CallOptions {
  /** The actor of the request (default: the client's actor). */
  readonly actor?: string | undefined
}

export interface ConnectionOptions {
  /** The address of the server, such as `http://127.0.0.1:3000` (default in a page: its origin). */
  readonly baseUrl: string
  /** The actor of writes; null for the server default. */
  readonly actor: string | null
  /** Replaces the global `fetch`. */
  readonly fetch: typeof globalThis.fetch
}

/** The media type of errors with a code (RFC 9457). */
export const PROBLEM = 'application/problem+json'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

interface WritingHow extends Pick<Sending, 'query' | 'headers'> {
  readonly method?: Exclude<Method, 'GET'>
}

/** Sends the requests of a client to one server, with the CSRF token where it is required. */
export class Connection {
  readonly actor: string | null
  readonly #baseUrl: string
  readonly #fetch: typeof globalThis.fetch
  /**
   * Not read from the cookie: any page on the same host name can set one that comes first; the response contains the one that
   * the server reads (D37).
   */
  #token: Promise<string> | null = null

  constructor({ baseUrl, actor, fetch }: ConnectionOptions) {
    this.actor = actor
    this.#baseUrl = baseUrl.replace(/\/+$/, '')
    this.#fetch = fetch
  }

  /** Reads JSON. Throws ApiError. */
  async get<T>(path: string, query: Query = {}, { signal }: CallOptions = {}): Promise<T> {
    return (await this.request('GET', path, { query, signal })).json() as Promise<T>
  }

  /** Reads with a POST that writes nothing. Throws ApiError. */
  async ask<T>(path: string, body: unknown, { signal }: CallOptions = {}): Promise<T> {
    return (await this.request('POST', path, { body, signal })).json() as Promise<T>
  }

  /** Writes, with the CSRF token. Throws ApiError. */
  async write<T>(method: Exclude<Method, 'GET'>, path: string, sending: Sending = {}): Promise<T> {
    return (await this.#writing(method, path, sending)).json() as Promise<T>
  }

  /** Writes a body with the actor, by POST unless `how` names another method. Throws ApiError. */
  writeAs<T>(
    path: string,
    body: object,
    { actor, signal }: ActorOptions = {},
    { method = 'POST', ...how }: WritingHow = {},
  ): Promise<T> {
    const writer = actor ?? this.actor
    const named = writer === null ? body : { ...body, actor: writer }
    return this.write(method, path, { ...how, body: named, signal })
  }

  /** The header with the actor of a write without a body. */
  actorHeader(actor: string | undefined): Record<string, string> {
    const writer = actor ?? this.actor
    return writer === null ? {} : { 'x-svc-actor': headerText(writer) }
  }

  /** Sends a request and returns the response. Throws ApiError unless it is a success. */
  async request(method: Method, path: string, sending: Sending = {}): Promise<Response> {
    const { query, body, headers = {}, signal } = sending
    const init: RequestInit = {
      method,
      headers: {
        accept: `${PROBLEM}, application/json`,
        ...(body === undefined
          ? {}
          : { 'content-type': body instanceof Blob ? 'application/octet-stream' : 'application/json' }),
        ...headers,
      },
      signal: signal ?? null,
      ...(body === undefined ? {} : { body: body instanceof Blob ? body : JSON.stringify(body) }),
    }
    const response = await this.#fetchOrSay(`${this.#baseUrl}${path}${queryText(query)}`, init)
    if (response.ok) return response
    throw await toApiError(response)
  }

  async #fetchOrSay(url: string, init: RequestInit): Promise<Response> {
    try {
      return await this.#fetch(url, init)
    } catch (error) {
      if (init.signal?.aborted === true) throw error
      throw new ApiError(0, 'Unreachable', 'the server does not answer; is it still running?', {
        cause: error,
      })
    }
  }

  async #writing(method: Exclude<Method, 'GET'>, path: string, sending: Sending): Promise<Response> {
    const attempt = async (): Promise<Response> => {
      const headers = { ...sending.headers, ...csrfHeaders(await this.#csrfToken(sending)) }
      return this.request(method, path, { ...sending, headers })
    }
    try {
      return await attempt()
    } catch (error) {
      if (!isTokenFault(error)) throw error
      // The cookie was removed or replaced: nothing has been written; try once with a new token.
      this.#token = null
      return attempt()
    }
  }

  async #csrfToken({ signal }: CallOptions): Promise<string> {
    // Shared by calls: aborting one must not abort it for the others.
    this.#token ??= this.get<CsrfAnswer>('/api/csrf').then((answer) => answer.csrf_token)
    const known = this.#token
    try {
      const token = await known
      signal?.throwIfAborted()
      return token
    } catch (error) {
      if (this.#token === known && signal?.aborted !== true) this.#token = null
      throw error
    }
  }
}

/** Header values are bytes: those of the text in UTF-8. */
function headerText(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text))
}

/** The headers of the double submit. A browser sends the cookie itself; other programs send it here. */
function csrfHeaders(token: string): Record<string, string> {
  const header = { 'x-csrf-token': token }
  return 'document' in globalThis ? header : { ...header, cookie: `svc_csrf=${token}` }
}

function isTokenFault(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'invalid_csrf_token'
}

/** The query string with its `?`; empty without parameters. */
function queryText(query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) => {
    const text = Array.isArray(value) ? value.join() : String(value ?? '')
    return text === '' ? [] : [`${name}=${encodeURIComponent(text)}`]
  })
  return given.length === 0 ? '' : `?${given.join('&')}`
}

/** Serializes a parameter as JSON; undefined for none. */
export function jsonText(value: object | null | undefined): string | undefined {
  return value === null || value === undefined ? undefined : JSON.stringify(value)
}

async function toApiError(response: Response): Promise<ApiError> {
  try {
    const body = (await response.json()) as Problem | ErrorEnvelope
    // A server that refuses a message before it has read the headers sends the envelope.
    if ('error' in body) return new ApiError(response.status, body.error.type, body.error.message)
    const { title, detail, code, file, line, violations = [] } = body
    const place = file === undefined ? null : { file, line: line ?? null }
    return new ApiError(response.status, title, detail, { code: code ?? null, place, violations })
  } catch {
    return new ApiError(response.status, 'ServiceError', `the server answered ${response.status}`)
  }
}

import type { CsrfAnswer } from '../../../src/wire/csrf.ts'
import type { ErrorEnvelope } from '../../../src/wire/error-envelope.ts'
import { ApiError } from './api-error.ts'

type Query = Readonly<Record<string, string | number | boolean | null | undefined>>

interface Sending {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

/** The path with its query; what is null, undefined or an empty text is left out. */
export function pathWith(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  )
  if (given.length === 0) return path
  return `${path}?${given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`
}

/** Reads JSON. Throws ApiError. */
export async function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return (await send('GET', pathWith(path, query), { signal })).json() as Promise<T>
}

/** A record and its version, for a conditional write. Throws ApiError. */
export async function getTagged(
  path: string,
  signal?: AbortSignal,
): Promise<{ readonly value: Readonly<Record<string, unknown>>; readonly tag: string | null }> {
  const response = await send('GET', path, { signal })
  return {
    value: (await response.json()) as Readonly<Record<string, unknown>>,
    tag: response.headers.get('etag'),
  }
}

/** Runs a statement or anything else that writes nothing. Throws ApiError. */
export async function ask<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return (await send('POST', path, { body, signal })).json() as Promise<T>
}

/** Writes, with the CSRF token. Throws ApiError. */
export async function write<T>(
  method: 'POST' | 'DELETE',
  path: string,
  { headers, ...sending }: Sending = {},
): Promise<T> {
  const attempt = async (): Promise<Response> =>
    send(method, path, { ...sending, headers: { ...headers, 'x-csrf-token': await csrfToken() } })
  let response
  try {
    response = await attempt()
  } catch (error) {
    if (!isTokenFault(error)) throw error
    // The cookie is gone or another: nothing has been written, and the next token fits.
    token = null
    response = await attempt()
  }
  return response.json() as Promise<T>
}

/**
 * Not read from the cookie: any page on this machine's name can plant one that comes first, and the answer tells which of
 * them the server sees (D37).
 */
let token: Promise<string> | null = null

async function csrfToken(): Promise<string> {
  token ??= get<CsrfAnswer>('/api/csrf').then((answer) => answer.csrf_token)
  try {
    return await token
  } catch (error) {
    token = null
    throw error
  }
}

function isTokenFault(error: unknown): boolean {
  return error instanceof ApiError && error.status === 403 && error.message.startsWith('CSRF token')
}

async function send(
  method: string,
  path: string,
  { body, headers = {}, signal }: Sending,
): Promise<Response> {
  const init: RequestInit = {
    method,
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: signal ?? null,
  }
  let response
  try {
    response = await fetch(path, init)
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw new ApiError(0, 'Unreachable', 'the server does not answer; is it still running?')
  }
  if (response.ok) return response
  throw await toApiError(response)
}

async function toApiError(response: Response): Promise<ApiError> {
  try {
    const { error } = (await response.json()) as ErrorEnvelope
    return new ApiError(response.status, error.type, error.message)
  } catch {
    return new ApiError(response.status, 'ServiceError', `the server answered ${response.status}`)
  }
}

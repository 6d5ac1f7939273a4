import type { ErrorType } from './codes.ts'

/**
 * The reason why a cell could not be computed. A value, never thrown: the run continues with other cells (H7).
 * `request` labels the computation, for http `<METHOD> <URL>`; it never contains a secret.
 */
export type Failure =
  /** The response's status was not 200–299. */
  | ({ readonly reason: 'status'; readonly request: string; readonly status: number } & Answered)
  /** The whole exchange took longer than allowed. */
  | { readonly reason: 'timeout'; readonly request: string; readonly seconds: number }
  /** The exchange failed: connection, protocol, redirect or size. */
  | { readonly reason: 'network'; readonly request: string; readonly detail: string }
  /** The body is not JSON. */
  | ({ readonly reason: 'malformed-json'; readonly request: string } & Answered)
  /** The response has no value at the path. */
  | { readonly reason: 'missing-path'; readonly request: string; readonly path: string }
  /** The request cannot be made from these inputs, such as a path segment that would be `..`. */
  | { readonly reason: 'unusable-input'; readonly request: string; readonly detail: string }
  /** The computation of a kind that makes no calls failed. */
  | { readonly reason: 'computation'; readonly request: string; readonly detail: string }
  /** Calls to this address are not allowed, so none was started. */
  | { readonly reason: 'refused'; readonly request: string; readonly detail: string }
  /** The stub has neither a response for the request nor a fallback (D41). */
  | { readonly reason: 'no-stub-response'; readonly request: string }
  /** The value does not satisfy the contract (D26). */
  | { readonly reason: 'contract'; readonly request: string; readonly detail: string }
  /** A requested record does not exist (D29). */
  | { readonly reason: 'no-record'; readonly recordId: string }

/** The part of a failure that comes from a response. */
interface Answered {
  /** The start of the body, with secrets removed (D23); absent for an empty body. */
  readonly responseBody?: string
}

/** The start of the response body of a failure; undefined for none. */
export function responseBodyOf(failure: Failure): string | undefined {
  return 'responseBody' in failure ? failure.responseBody : undefined
}

/** Statuses of errors that depend on the caller or the time, not on the request. */
const PASSING_STATUSES: readonly number[] = [401, 402, 403, 408, 425, 429]

/** Whether the same request is expected to fail again, so that a run need not make it at once. */
export function isLasting(failure: Failure): boolean {
  switch (failure.reason) {
    case 'status':
      return failure.status < 500 && !PASSING_STATUSES.includes(failure.status)
    case 'malformed-json':
    case 'missing-path':
    case 'computation':
    case 'contract':
      return true
    case 'timeout':
    case 'network':
    case 'unusable-input':
    case 'refused':
    case 'no-stub-response':
    case 'no-record':
      return false
  }
}

/** A failure in the wire format. */
export interface RenderedFailure {
  readonly error: string
  readonly error_type: ErrorType
}

/** Converts a failure to its text and error type (specification, "A failure entry"; D26). */
export function renderFailure(failure: Failure): RenderedFailure {
  switch (failure.reason) {
    case 'status':
      return service(failure.request, String(failure.status))
    case 'timeout':
      return service(failure.request, `timeout after ${failure.seconds} s`)
    case 'network':
    case 'unusable-input':
    case 'computation':
      return service(failure.request, failure.detail)
    case 'malformed-json':
      return service(failure.request, 'malformed JSON')
    case 'missing-path':
      return service(failure.request, `no "${failure.path}" in the response`)
    case 'refused':
      return service(failure.request, `refused: ${failure.detail}`)
    case 'no-stub-response':
      return service(failure.request, 'no stub response')
    case 'contract':
      return { error: `${failure.request} -> ${failure.detail}`, error_type: 'ValidationError' }
    case 'no-record':
      // No id is longer than 512 characters (D14), but a request may name one that is.
      return { error: `no record "${failure.recordId.slice(0, 512)}"`, error_type: 'SheetError' }
  }
}

function service(request: string, detail: string): RenderedFailure {
  return { error: `${request} -> ${detail}`, error_type: 'ServiceError' }
}

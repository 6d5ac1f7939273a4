import type { ErrorType } from './codes.ts'

/**
 * Why one cell could not be computed. A value, never thrown: the other cells of the run go on (H7).
 * `request` is the label of what was asked, for http `<METHOD> <URL>` (never with a secret in it).
 */
export type Failure =
  /** The response's status was not 200–299. */
  | ({ readonly reason: 'status'; readonly request: string; readonly status: number } & Answered)
  /** The whole exchange took longer than allowed. */
  | { readonly reason: 'timeout'; readonly request: string; readonly seconds: number }
  /** The exchange broke: connection, protocol, redirect or size. `detail` says how. */
  | { readonly reason: 'network'; readonly request: string; readonly detail: string }
  /** The body is not JSON. */
  | ({ readonly reason: 'malformed-json'; readonly request: string } & Answered)
  /** The response has no value at the path. */
  | { readonly reason: 'missing-path'; readonly request: string; readonly path: string }
  /** The request cannot be made from these inputs, such as a path segment that would be `..`. */
  | { readonly reason: 'unusable-input'; readonly request: string; readonly detail: string }
  /** Computing it went wrong, of kinds that call nobody. `detail` says how. */
  | { readonly reason: 'computation'; readonly request: string; readonly detail: string }
  /** This machine makes no such calls, so that none was begun. `detail` says why. */
  | { readonly reason: 'refused'; readonly request: string; readonly detail: string }
  /** The stub has neither a response for the request nor a fallback (D41). */
  | { readonly reason: 'no-stub-response'; readonly request: string }
  /** The contract holds `detail` against the value (D26). */
  | { readonly reason: 'contract'; readonly request: string; readonly detail: string }
  /** A record that was asked for does not exist (D29). */
  | { readonly reason: 'no-record'; readonly recordId: string }

/** A response that was an error. */
interface Answered {
  /** What its body begins with, searched for secrets (D23); absent when it had none. */
  readonly responseBody?: string
}

/** What the response of a failure began with; undefined when it had none. */
export function responseBodyOf(failure: Failure): string | undefined {
  return 'responseBody' in failure ? failure.responseBody : undefined
}

/** Statuses of errors that are about the caller or the moment, and not about what was asked for. */
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

/** A failure as the envelope shows it. */
export interface RenderedFailure {
  readonly error: string
  readonly error_type: ErrorType
}

/** Renders a failure: its text and the name of its error type (specification, "A failure entry"; D26). */
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
      // No id is that long (D14), but a request may ask for one that is.
      return { error: `no record "${failure.recordId.slice(0, 512)}"`, error_type: 'SheetError' }
  }
}

function service(request: string, detail: string): RenderedFailure {
  return { error: `${request} -> ${detail}`, error_type: 'ServiceError' }
}

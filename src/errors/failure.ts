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
  | ({ readonly reason: 'malformed_json'; readonly request: string } & Answered)
  /** The response has no value at the path. */
  | { readonly reason: 'missing_path'; readonly request: string; readonly path: string }
  /** The request cannot be made from these inputs, such as a path segment that would be `..`. */
  | { readonly reason: 'unusable_input'; readonly request: string; readonly detail: string }
  /** The computation of a kind that makes no calls failed. */
  | { readonly reason: 'computation'; readonly request: string; readonly detail: string }
  /** The model refused to answer, or its provider withheld the answer. */
  | ({ readonly reason: 'refusal'; readonly request: string; readonly detail: string } & Answered)
  /** The answer of a model was cut off. */
  | ({ readonly reason: 'truncated'; readonly request: string; readonly detail: string } & Answered)
  /** The answer of a model is empty. */
  | ({ readonly reason: 'empty_answer'; readonly request: string; readonly detail: string } & Answered)
  /** The answer of a model has text before or after its JSON. */
  | ({ readonly reason: 'text_around_json'; readonly request: string; readonly detail: string } & Answered)
  /** The response of a model has no answer of the expected form. */
  | ({ readonly reason: 'unusable_answer'; readonly request: string; readonly detail: string } & Answered)
  /** Calls to this address are not allowed, so none was started. */
  | { readonly reason: 'refused'; readonly request: string; readonly detail: string }
  /** The stub has neither a response for the request nor a fallback (D41). */
  | { readonly reason: 'no_stub_response'; readonly request: string }
  /** The recording of a replay has no response to the request. */
  | { readonly reason: 'not_recorded'; readonly request: string; readonly detail: string }
  /** None of the steps has a value that is accepted. `isLasting`: whether the same steps are expected to end so again. */
  | {
      readonly reason: 'no_step_accepted'
      readonly request: string
      readonly detail: string
      readonly isLasting: boolean
    }
  /** A step could not be carried out for a reason other than the record. */
  | ({ readonly reason: 'step_not_made'; readonly request: string; readonly detail: string } & Answered)
  /** The next step may cost more than a record may. */
  | { readonly reason: 'cost_per_record'; readonly request: string; readonly detail: string }
  /** The value does not satisfy the contract (D26). */
  | ({ readonly reason: 'contract'; readonly request: string; readonly detail: string } & Answered)
  /** A requested record does not exist (D29). */
  | { readonly reason: 'no_record'; readonly recordId: string }

/** The reasons of failures. They are stored and stable: programs choose by them. docs/reference/derivations.md has the same list. */
export type FailureReason = Failure['reason']

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
    case 'malformed_json':
    case 'missing_path':
    case 'computation':
    case 'contract':
    case 'refusal':
    case 'truncated':
    case 'empty_answer':
    case 'text_around_json':
    case 'unusable_answer':
      return true
    case 'no_step_accepted':
      return failure.isLasting
    case 'step_not_made':
    case 'cost_per_record':
    case 'timeout':
    case 'network':
    case 'unusable_input':
    case 'refused':
    case 'no_stub_response':
    case 'not_recorded':
    case 'no_record':
      return false
  }
}

/** A failure as text, type and reason. */
export interface RenderedFailure {
  /** The text: the request, ` -> ` and the detail. */
  readonly error: string
  /** The text without its request, equal for cells that failed in the same way. */
  readonly detail: string
  readonly errorType: ErrorType
  readonly reason: FailureReason
}

/** A failure as it is stored. */
export interface StoredFailure extends Omit<RenderedFailure, 'reason' | 'detail'> {
  /** Null for one that an earlier version stored. */
  readonly reason: FailureReason | null
  /** See {@link RenderedFailure}. Runs keep it; absent for one that an earlier version stored, and in the failure of a cell. */
  readonly detail?: string | undefined
  /** The beginning of the response; absent when there was none, or when it was empty. */
  readonly responseBody?: string
}

/** Converts a failure to its text, error type and reason (`docs/reference/derivations.md`; D26). */
export function renderFailure(failure: Failure): RenderedFailure {
  const detail = detailOf(failure)
  const error =
    failure.reason === 'no_record'
      ? // No id is longer than 512 characters (D14), but a request may name one that is.
        `${detail} "${failure.recordId.slice(0, 512)}"`
      : `${failure.request} -> ${detail}`
  return { error, detail, errorType: typeOf(failure), reason: failure.reason }
}

function detailOf(failure: Failure): string {
  switch (failure.reason) {
    case 'no_record':
      return 'no record'
    case 'status':
      return String(failure.status)
    case 'timeout':
      return `timeout after ${failure.seconds} s`
    case 'network':
    case 'unusable_input':
    case 'not_recorded':
    case 'computation':
    case 'contract':
    case 'refusal':
    case 'truncated':
    case 'empty_answer':
    case 'text_around_json':
    case 'unusable_answer':
    case 'no_step_accepted':
    case 'step_not_made':
    case 'cost_per_record':
      return failure.detail
    case 'malformed_json':
      return 'malformed JSON'
    case 'missing_path':
      return `no "${failure.path}" in the response`
    case 'refused':
      return `refused: ${failure.detail}`
    case 'no_stub_response':
      return 'no stub response'
  }
}

function typeOf({ reason }: Failure): ErrorType {
  return reason === 'contract' ? 'ValidationError' : reason === 'no_record' ? 'SheetError' : 'ServiceError'
}

import type { IncomingHttpHeaders } from 'node:http'
import { ERROR_CODES, type ErrorCode, type ErrorType } from '../../errors/codes.ts'
import type { ErrorDetails } from '../../errors/service-error.ts'
import { errorEnvelope } from '../../wire/service/error-envelope.ts'
import { problem } from '../../wire/service/problem.ts'
import { JSON_CONTENT_TYPE } from './json-response.ts'
import { prefers } from './negotiate.ts'

/** Media type of problem details (RFC 9457). */
const PROBLEM_TYPE = 'application/problem+json'

/** An error to send. */
export interface RenderableError extends Pick<ErrorDetails, 'violations' | 'inFile'> {
  readonly code: ErrorCode
  readonly message: string
}

/** Renders an error as the envelope (D36), or as problem details for a client that prefers these. */
export function renderError(
  headers: IncomingHttpHeaders,
  { code, message, violations = null, inFile = null }: RenderableError,
): { readonly status: number; readonly contentType: string; readonly body: string } {
  const { type } = ERROR_CODES[code]
  const status = statusOf(code)
  if (prefers(headers, PROBLEM_TYPE)) {
    return {
      status,
      contentType: `${PROBLEM_TYPE}; charset=utf-8`,
      body: JSON.stringify(problem({ type, code, status, message, violations, inFile })),
    }
  }
  return { status, contentType: JSON_CONTENT_TYPE, body: JSON.stringify(errorEnvelope(type, message)) }
}

/** The HTTP status of each error type (D36). */
export const STATUS: Readonly<Record<ErrorType, number>> = {
  ContractError: 500,
  SheetError: 404,
  RecordsError: 500,
  QueryError: 400,
  OperationError: 400,
  PermissionDeniedError: 403,
  LockTimeoutError: 409,
  ValidationError: 400,
  ServiceError: 500,
}

/** The status of codes for which that of their type is too general (RFC 9110; D36). */
const STATUS_OF_CODE: Readonly<Partial<Record<ErrorCode, number>>> = {
  version_mismatch: 412,
  definition_changed: 409,
  record_exists: 409,
  value_changed: 409,
  values_in_use: 409,
  proposal_decided: 409,
  proposal_outdated: 409,
  too_many_proposals: 409,
  change_outdated: 409,
  view_exists: 409,
  too_many_views: 409,
  chart_exists: 409,
  too_many_charts: 409,
  method_not_allowed: 405,
  not_ready: 503,
  request_timeout: 408,
  body_too_large: 413,
  url_too_long: 414,
  unsupported_media_type: 415,
  headers_too_large: 431,
}

/** The HTTP status of an error code. */
export function statusOf(code: ErrorCode): number {
  return STATUS_OF_CODE[code] ?? STATUS[ERROR_CODES[code].type]
}

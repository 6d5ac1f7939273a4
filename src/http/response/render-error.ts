import type { IncomingHttpHeaders } from 'node:http'
import type { ErrorType } from '../../errors/service-error.ts'
import { errorEnvelope } from '../../wire/service/error-envelope.ts'
import { problem } from '../../wire/service/problem.ts'
import { JSON_CONTENT_TYPE } from './json-response.ts'
import { prefers } from './negotiate.ts'

/** Media type of problem details (RFC 9457). */
const PROBLEM_TYPE = 'application/problem+json'

/** An error as its answer tells it. */
export interface AnsweredError {
  readonly status: number
  readonly type: ErrorType
  readonly message: string
}

/** An error as the envelope (D36), or as problem details for who would rather have those. */
export function renderError(
  headers: IncomingHttpHeaders,
  { status, type, message }: AnsweredError,
): { readonly contentType: string; readonly body: string } {
  if (prefers(headers, PROBLEM_TYPE)) {
    return {
      contentType: `${PROBLEM_TYPE}; charset=utf-8`,
      body: JSON.stringify(problem(type, status, message)),
    }
  }
  return { contentType: JSON_CONTENT_TYPE, body: JSON.stringify(errorEnvelope(type, message)) }
}

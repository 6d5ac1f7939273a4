import type { Problem } from '../wire/service/problem.ts'

type ErrorCode = Problem['code']

/** An error response of the server, or a failure to reach it. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** The error type (see the reference of errors); `Unreachable` without a response. */
  readonly type: string
  /** The HTTP status; 0 without a response. */
  readonly status: number
  /** The error code; null where the response has none. */
  readonly code: ErrorCode | null

  constructor(
    status: number,
    type: string,
    message: string,
    { code = null, ...options }: ErrorOptions & { readonly code?: ErrorCode | null } = {},
  ) {
    super(message, options)
    this.status = status
    this.type = type
    this.code = code
  }
}

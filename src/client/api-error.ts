import type { Problem } from '../wire/service/problem.ts'

type ErrorCode = Problem['code']

/** A violation of the contract or of permissions by one record of a request. */
type Violation = NonNullable<Problem['violations']>[number]

/** The place of an error in a file of the sheet. */
interface FilePlace {
  readonly file: string
  /** From 1; null when it is no single line. */
  readonly line: number | null
}

interface ErrorParts {
  readonly code?: ErrorCode | null
  readonly place?: FilePlace | null
  readonly violations?: readonly Violation[]
}

/** An error response of the server, or a failure to reach it. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** The error type (see the reference of errors); `Unreachable` without a response. */
  readonly type: string
  /** The HTTP status; 0 without a response. */
  readonly status: number
  /** The error code; null where the response has none. */
  readonly code: ErrorCode | null
  /** The place of the error in a file of the sheet; null for an error elsewhere. */
  readonly place: FilePlace | null
  /** The violations of the records of a refused write, as many as the message lists; empty for any other error. */
  readonly violations: readonly Violation[]

  constructor(
    status: number,
    type: string,
    message: string,
    { code = null, place = null, violations = [], ...options }: ErrorOptions & ErrorParts = {},
  ) {
    super(message, options)
    this.status = status
    this.type = type
    this.code = code
    this.place = place
    this.violations = violations
  }
}

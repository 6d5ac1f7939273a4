import { fromPlainError, ServiceError, StoppingError } from '../errors/service-error.ts'
import type { RunEnd } from '../store/stored-run.ts'

type ToldError = NonNullable<RunEnd['error']>

const INTERNAL_ERROR = 'internal error'

/** What callers are told of an error. */
export function toldOf(error: unknown): ToldError {
  if (error instanceof ServiceError) return { type: error.type, message: error.message }
  return { type: 'ServiceError', message: INTERNAL_ERROR }
}

/** The error that another process has told of. */
export function errorOf({ type, message }: ToldError): Error {
  if (type !== 'ServiceError') return fromPlainError({ type, message })
  return message === INTERNAL_ERROR ? new Error(message) : new StoppingError(message)
}

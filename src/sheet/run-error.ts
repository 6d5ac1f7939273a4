import { fromPlainError, ServiceError, StoppingError } from '../errors/service-error.ts'
import type { RunEnd } from '../store/stored-run.ts'

type StoredError = NonNullable<RunEnd['error']>

const INTERNAL_ERROR = 'internal error'

/** Returns the form in which an error is stored and reported; details of unexpected errors are left out. */
export function reportedError(error: unknown): StoredError {
  if (error instanceof ServiceError) return { type: error.type, message: error.message }
  return { type: 'ServiceError', message: INTERNAL_ERROR }
}

/** Recreates the error that another process stored. */
export function errorFrom({ type, message }: StoredError): Error {
  if (type !== 'ServiceError') return fromPlainError({ type, message })
  return message === INTERNAL_ERROR ? new Error(message) : new StoppingError(message)
}

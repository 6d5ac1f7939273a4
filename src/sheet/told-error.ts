import { fromPlainError, ServiceError } from '../errors/service-error.ts'
import type { RunEnd } from '../store/stored-run.ts'

type ToldError = NonNullable<RunEnd['error']>

/** What callers are told of an error. */
export function toldOf(error: unknown): ToldError {
  if (error instanceof ServiceError) return { type: error.type, message: error.message }
  return { type: 'ServiceError', message: 'internal error' }
}

/** The error that another process has told of. */
export function errorOf({ type, message }: ToldError): Error {
  return type === 'ServiceError' ? new Error(message) : fromPlainError({ type, message })
}

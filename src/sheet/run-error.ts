import { fromPlainError, toPlainError } from '../errors/service-error.ts'
import type { RunError } from '../store/stored-run.ts'

/** Returns the form in which an error is stored and reported; details of unexpected errors are left out. */
export function reportedError(error: unknown): RunError {
  const { type, code, message } = toPlainError(error) ?? INTERNAL_ERROR
  return { type, code: code ?? null, message }
}

const INTERNAL_ERROR: RunError = { type: 'ServiceError', code: 'internal_error', message: 'internal error' }

/** Recreates the error that another process stored. */
export function errorFrom(error: RunError): Error {
  return error.code === 'internal_error' ? new Error(error.message) : fromPlainError(error)
}

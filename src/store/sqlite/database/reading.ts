import { StoppingError } from '../../../errors/service-error.ts'
import { asRecordsError } from './connection.ts'

/** Reads; throws RecordsError for errors of the file, StoppingError when the store has been closed. */
export function reading<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw storeError(error)
  }
}

/** Awaits a read; throws as {@link reading} does. */
export async function readingOn<T>(read: Promise<T>): Promise<T> {
  try {
    return await read
  } catch (error) {
    throw storeError(error)
  }
}

function storeError(error: unknown): unknown {
  const isClosed = error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE'
  return isClosed ? new StoppingError('the store is closed') : asRecordsError(error)
}

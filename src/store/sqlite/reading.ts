import { RecordsError } from '../../errors/service-error.ts'
import { asRecordsError } from './connection.ts'

/** Reads; what goes wrong with the file is a RecordsError, and so is a store that was closed meanwhile. */
export function reading<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw toldOf(error)
  }
}

/** The same for what is read over several turns. */
export async function readingOn<T>(read: Promise<T>): Promise<T> {
  try {
    return await read
  } catch (error) {
    throw toldOf(error)
  }
}

function toldOf(error: unknown): unknown {
  const isClosed = error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE'
  return isClosed ? new RecordsError('the store is closed') : asRecordsError(error)
}

import { StoppingError } from '../../../errors/service-error.ts'
import { asRecordsError } from './connection.ts'

/** Reads; what goes wrong with the file is a RecordsError, that the store was closed meanwhile a StoppingError. */
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
  return isClosed ? new StoppingError('the store is closed') : asRecordsError(error)
}

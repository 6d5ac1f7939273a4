import { asRecordsError } from './connection.ts'

/** Reads; what goes wrong with the file is a RecordsError. */
export function reading<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw asRecordsError(error)
  }
}

/** The same for what is read over several turns. */
export async function readingOn<T>(read: Promise<T>): Promise<T> {
  try {
    return await read
  } catch (error) {
    throw asRecordsError(error)
  }
}

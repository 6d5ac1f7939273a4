import { fromPlainError, toPlainError } from '../../errors/service-error.ts'
import { violationsMessage } from '../../errors/violations.ts'
import { placeOf, type RawRecords } from '../../files/io/raw-records.ts'
import type { RecordPlace } from './checked-batches.ts'

/** The source of records, for messages. */
type Origin = Pick<RawRecords, 'source' | 'unit'>

/** Returns the error of a batch with the places of its records in the file, in place of those in the request. */
export function withPlaces(error: unknown, batch: readonly RecordPlace[], origin: Origin): unknown {
  const plain = toPlainError(error)
  const violations = plain?.violations ?? null
  if (plain === undefined || violations === null) return error
  const message = violationsMessage(violations, (index) => placeOf(origin, batch[index] ?? { at: 0 }))
  return fromPlainError({ ...plain, message })
}

/** Returns an error with another message; anything but a service error as it is. */
export function withMessage(error: unknown, change: (message: string) => string): unknown {
  const plain = toPlainError(error)
  return plain === undefined ? error : fromPlainError({ ...plain, message: change(plain.message) })
}

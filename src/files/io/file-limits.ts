import { ValidationError } from '../../errors/service-error.ts'

/** The most characters of a record. */
export const MAX_RECORD_SIZE = 32 << 20

/** The most columns of a file; no contract has more fields. */
export const MAX_COLUMNS = 16_384

/** Returns the error for a record that is too large to store. */
export function tooLargeRecord(place: string): ValidationError {
  return new ValidationError(
    `${place}: the record is longer than ${MAX_RECORD_SIZE >> 20} MiB; is a quote missing that should end a text?`,
    'unreadable_file',
  )
}

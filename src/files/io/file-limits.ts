import { ValidationError } from '../../errors/service-error.ts'

/** The most characters of one record, as text. */
export const MAX_RECORD_SIZE = 32 << 20

/** Columns of a file; a contract with more fields has no store. */
export const MAX_COLUMNS = 16_384

/** Throws ValidationError for a record that is larger than any that could be stored. */
export function tooLargeRecord(place: string): ValidationError {
  return new ValidationError(
    `${place}: the record is longer than ${MAX_RECORD_SIZE >> 20} MiB; is a quote missing that should end a text?`,
    'unreadable_file',
  )
}

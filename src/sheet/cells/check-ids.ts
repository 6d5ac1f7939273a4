import { ValidationError } from '../../errors/service-error.ts'

/** The most records that a request about cells may name. */
const MAX_IDS = 1000

/** Throws ValidationError for no ids or too many. */
export function checkIds(ids: readonly string[]): void {
  if (ids.length === 0) throw new ValidationError('ids is required: the ids of the records')
  if (ids.length <= MAX_IDS) return
  throw new ValidationError(
    `ids names ${ids.length} records; at most ${MAX_IDS} are possible`,
    'too_many_items',
  )
}

import { ValidationError } from '../errors/service-error.ts'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 10_000

/**
 * Returns the size of a page: `unlessAsked` when no limit is given, and at most 10,000 (D10). Throws ValidationError.
 */
export function pageLimit(asked: number | null, unlessAsked: number = DEFAULT_LIMIT): number {
  if (asked === null) return unlessAsked
  if (!Number.isInteger(asked) || asked < 1) {
    throw new ValidationError(`limit must be an integer from 1 to ${MAX_LIMIT}, got ${asked}`, 'out_of_range')
  }
  return Math.min(asked, MAX_LIMIT)
}

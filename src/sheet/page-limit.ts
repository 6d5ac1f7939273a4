import { ValidationError } from '../errors/service-error.ts'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 10_000

/** How many items a page has: 50 unless asked for, lowered to 10,000 (D10). Throws ValidationError. */
export function pageLimit(asked: number | null): number {
  if (asked === null) return DEFAULT_LIMIT
  if (!Number.isInteger(asked) || asked < 1) {
    throw new ValidationError(`limit must be an integer from 1 to ${MAX_LIMIT}, got ${asked}`)
  }
  return Math.min(asked, MAX_LIMIT)
}

import { Type } from 'typebox'

/** The parameter `limit` of a list. */
export const limitParameter = Type.String({
  pattern: '^-?[0-9]+$',
  title: 'a whole number',
  description: 'Items on a page: 50 unless given, lowered to 10000 (D10).',
})

/** The number that a `limit` stands for; one of hundreds of digits would be Infinity, which is no integer. */
export function limitNumber(limit: string | undefined): number | null {
  return limit === undefined ? null : Math.min(Number(limit), Number.MAX_SAFE_INTEGER)
}

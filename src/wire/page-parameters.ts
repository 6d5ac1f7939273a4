import { Type } from 'typebox'

/** What a parameter that is a whole number is like; the use case says which numbers there may be. */
export const WHOLE_NUMBER = '^-?[0-9]+$'

/** The parameter `limit` of a list. */
export const limitParameter = Type.String({
  pattern: WHOLE_NUMBER,
  title: 'a whole number',
  description: 'Items on a page: 50 unless given, lowered to 10000.',
})

/** The parameter `position` of a list. */
export const positionParameter = Type.String({
  pattern: WHOLE_NUMBER,
  title: 'a whole number',
  description: 'So many records come before the page.',
})

/** The parameter `sort` of a list of records. */
export const sortParameter = Type.String({
  description:
    'Comma-separated field names, a minus before those from the greatest down; creation order when absent.',
})

/** The number that a parameter stands for; one of hundreds of digits would be Infinity, which is no integer. */
export function wholeNumber(text: string | undefined): number | null {
  return text === undefined ? null : Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}

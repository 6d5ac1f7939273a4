import { server } from '../api/server.ts'

/** Ids with a number at the end, after letters and a separator if any: `17`, `R-0017`. */
const NUMBERED = /^([A-Za-z]*[-_./#]?)(\d{1,15})$/

const LETTERS = 'abcdefghjkmnpqrstvwxyz0123456789'
const LENGTH = 12

/** Returns ids that continue the number of the last record, or random ones if its id has no number. Throws ApiError. */
export async function newIds(count: number): Promise<readonly string[]> {
  const { count: total } = await server.records.summary({})
  if (total === 0) return nextIds('0', count) ?? []
  const { records } = await server.records.list({ fields: ['id'], position: total - 1, limit: 1 })
  const last = records[0]?.['id']
  return (typeof last === 'string' ? nextIds(last, count) : null) ?? randomIds(count)
}

/** Returns the ids after a numbered one, with as many digits; null if it has no number. */
export function nextIds(last: string, count: number): readonly string[] | null {
  const [, prefix = '', digits] = NUMBERED.exec(last) ?? []
  if (digits === undefined) return null
  return Array.from(
    { length: count },
    (_, index) => prefix + String(Number(digits) + index + 1).padStart(digits.length, '0'),
  )
}

/** Returns random ids, which are unique for all practical purposes. */
export function randomIds(count: number): readonly string[] {
  return Array.from({ length: count }, () =>
    Array.from(
      crypto.getRandomValues(new Uint8Array(LENGTH)),
      (byte) => LETTERS[byte % LETTERS.length] ?? '',
    ).join(''),
  )
}

import { createHash } from 'node:crypto'
import type { StoredFailure } from './failure.ts'

/** The members of a failure by which it is grouped. */
type Grouped = Pick<StoredFailure, 'error' | 'detail' | 'errorType'>

/** The id of a group of failures: 13 hex digits. */
export type FailureGroupId = string

/** The digits of an id: a number of so many hex digits is exact in JavaScript and in both engines. */
const DIGITS = 13

/** The beginning of a request up to the host of its URL, such as `GET http://127.0.0.1:4010`. */
const HOST = /^(?:[A-Z]+ )?[a-z]+:\/\/[^/?#\s]*/

/**
 * Returns what failures of one group have in common: the error without what is specific to a record, which is its request but for
 * the host of a URL. Failures that earlier versions stored have only the whole error.
 */
export function commonError({ error, detail }: Omit<Grouped, 'errorType'>): string {
  if (detail === undefined) return error
  const [host] = HOST.exec(error) ?? []
  return host === undefined ? detail : `${host}/… -> ${detail}`
}

/** Returns the number of the group of a failure: failures of one type with the same {@link commonError} have the same. */
export function failureGroup(failure: Grouped): number {
  const hash = createHash('sha256')
    .update(`${failure.errorType}\n${commonError(failure)}`)
    .digest('hex')
  return Number.parseInt(hash.slice(0, DIGITS), 16)
}

/** Returns the id of a group from its number. */
export function groupId(group: number): FailureGroupId {
  return group.toString(16).padStart(DIGITS, '0')
}

/** Returns the number of a group from its id; null for a text that is not an id. */
export function groupNumber(id: string): number | null {
  return new RegExp(`^[0-9a-f]{${DIGITS}}$`).test(id) ? Number.parseInt(id, 16) : null
}

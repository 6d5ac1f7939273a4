import { PreconditionFailedError } from '../../errors/service-error.ts'
import { shorten } from '../../errors/violations.ts'
import type { Upsert } from '../sheet-store.ts'
import type { StoredRecord } from './store-change.ts'

/** The condition of a write on versions. */
type Condition = Upsert['ifMatch']

/**
 * Validates the condition of a write on the version of a record, `undefined` where there is none. Throws
 * PreconditionFailedError when the record does not exist, or has another version.
 */
export function checkVersion(id: string, condition: Condition, record: StoredRecord | undefined): void {
  if (condition === null) return
  if (record === undefined) {
    throw new PreconditionFailedError(
      `record ${shorten(JSON.stringify(id))} does not exist, and the write is for ${wanted(condition)}; nothing was changed`,
    )
  }
  const version = String(record.version)
  if (condition === '*' || condition.includes(version)) return
  throw new PreconditionFailedError(
    `record ${shorten(JSON.stringify(id))} has version ${version} by now, and the write is for ${wanted(condition)}; ` +
      'nothing was changed: read the record again, and make the change to what it is now',
  )
}

/** Validates that a record does not exist; throws PreconditionFailedError if it does. */
export function checkAbsent(id: string, record: StoredRecord | undefined): void {
  if (record === undefined) return
  throw new PreconditionFailedError(
    `record ${shorten(JSON.stringify(id))} exists already, and the write is for new records; nothing was changed`,
  )
}

function wanted(condition: '*' | readonly string[]): string {
  if (condition === '*') return 'one that does'
  return `version ${shorten(condition.join(' or ')) || 'none'}`
}

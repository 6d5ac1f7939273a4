import { PreconditionFailedError } from '../../errors/service-error.ts'
import type { Upsert } from '../sheet-store.ts'
import type { StoredRecords } from './stored-records.ts'

/** What a write says of the versions that it is for. */
type Condition = Upsert['ifMatch']

/** How much of the versions asked for goes into a message. */
const SHOWN = 80

/**
 * Holds a record, which must be loaded, to the condition of a write. Throws
 * PreconditionFailedError when the record does not exist, or not in one of these versions.
 */
export function checkVersion(records: StoredRecords, id: string, condition: Condition): void {
  if (condition === null) return
  const record = records.get(id)
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

function wanted(condition: '*' | readonly string[]): string {
  if (condition === '*') return 'one that does'
  return `version ${shorten(condition.join(' or ')) || 'none'}`
}

function shorten(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN - 1)}…` : text
}

import { PreconditionFailedError } from '../../errors/service-error.ts'
import type { Upsert } from '../sheet-store.ts'

/** What a write says of the versions that it is for. */
type Condition = Upsert['ifMatch']

/** How much of the versions asked for goes into a message. */
const SHOWN = 80

/**
 * Holds a record to the condition of a write. `versionOf` tells the version of a record in the write's own transaction,
 * null where there is none. Throws PreconditionFailedError when the record does not exist, or not in one of these versions.
 */
export function checkVersion(
  id: string,
  condition: Condition,
  versionOf: (id: string) => number | null,
): void {
  if (condition === null) return
  const stored = versionOf(id)
  if (stored === null) {
    throw new PreconditionFailedError(
      `record ${shorten(JSON.stringify(id))} does not exist, and the write is for ${wanted(condition)}; nothing was changed`,
    )
  }
  const version = String(stored)
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

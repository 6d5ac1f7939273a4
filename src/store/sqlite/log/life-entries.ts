import { restoredFrom } from '../../rules/logged-deletion.ts'
import type { RecordKey } from '../../cell-work.ts'
import type { Connection } from '../database/connection.ts'
import { parsedLineOf } from './stored-line.ts'

/** An entry and a life of a record. */
export interface EntryOfLife {
  readonly seq: number
  readonly key: RecordKey
}

/**
 * Whether an entry belongs to this life of its record, or to the one whose deletion was reverted to begin it. An import
 * line belongs to no single record.
 */
export function isOfLife(db: Connection, { seq, key }: EntryOfLife): boolean {
  for (let life: RecordKey | null = key; life !== null; life = lifeBefore(db, life)) {
    const row = db.get(
      `SELECT 1 FROM "$provenance" WHERE seq = ?1 AND record = ?2
       UNION ALL SELECT 1 FROM "$import" WHERE seq = ?1 AND first <= ?2 AND last >= ?2`,
      seq,
      life,
    )
    if (row !== undefined) return true
  }
  return false
}

/** Returns the previous life of a restored record; null for a record that was not restored. */
function lifeBefore(db: Connection, key: RecordKey): RecordKey | null {
  const first = db.get('SELECT line FROM "$provenance" WHERE record = ? ORDER BY seq LIMIT 1', key)
  const deletion = restoredFrom(parsedLineOf(first))
  if (deletion === null) return null
  const record = db.get('SELECT record FROM "$provenance" WHERE seq = ?', deletion)?.['record']
  return typeof record === 'number' && record < key ? record : null
}

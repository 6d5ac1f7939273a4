import type { Connection } from './connection.ts'
import { canBeId } from './values.ts'

/** The version of a record; null when there is no such record. */
export function versionOf(db: Connection, id: string): number | null {
  if (!canBeId(id)) return null
  const row = db.get('SELECT "$version" AS version FROM "$data" WHERE id = ?', id)
  return row === undefined ? null : Number(row['version'])
}

import type { RecordKey } from '../../cell-work.ts'
import type { CellFailureNote, DerivationVersion } from '../../sheet-store.ts'
import { storedCellFailure } from '../../rows/stored-rows.ts'
import type { Connection } from '../database/connection.ts'

/** Returns the failure of a cell whose last computation failed; null for any other cell. */
export async function readCellFailure(
  db: Connection,
  record: RecordKey,
  target: string,
): Promise<CellFailureNote | null> {
  const row = await db.get(
    `SELECT error, error_type, reason, response_body, at, hash FROM "$failure"
     WHERE target = (SELECT id FROM "$target" WHERE field = $1) AND record = $2`,
    target,
    record,
  )
  return row === undefined ? null : storedCellFailure(row)
}

/** Returns the versions of a derivation file, newest first; one that returned has its first position. */
export async function readDerivationVersions(db: Connection, file: string): Promise<DerivationVersion[]> {
  const rows = await db.all(
    'SELECT sha256, text, at FROM "$derivation" WHERE file = $1 ORDER BY number DESC',
    file,
  )
  return rows.map((row) => ({
    sha256: String(row['sha256']),
    text: String(row['text']),
    at: String(row['at']),
  }))
}

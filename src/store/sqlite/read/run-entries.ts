import { runNumber } from '../../rows/stored-rows.ts'
import type { EntryRef, RunEntriesQuery } from '../../sheet-store.ts'
import type { Connection } from '../database/connection.ts'

/** Reads the entries that a run wrote, the last first; each is of one cell. */
export function readRunEntries(db: Connection, { run, before, limit }: RunEntriesQuery): EntryRef[] {
  const rows = db.all(
    `SELECT seq, line ->> '$.record_id' AS record_id, line ->> '$.field' AS field FROM "$provenance"
     WHERE run = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
    runNumber(run),
    before ?? Number.MAX_SAFE_INTEGER,
    limit,
  )
  return rows.map((row) => ({
    seq: Number(row['seq']),
    recordId: String(row['record_id']),
    field: String(row['field']),
  }))
}

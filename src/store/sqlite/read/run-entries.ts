import { FieldLineages, presentRef } from '../../fields/field-lineage.ts'
import { FIELD_CHANGES } from '../../fields/stored-changes.ts'
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
  const lineages = new FieldLineages(db.query(FIELD_CHANGES))
  return rows.map((row) =>
    presentRef(lineages, {
      seq: Number(row['seq']),
      recordId: String(row['record_id']),
      field: String(row['field']),
    }),
  )
}

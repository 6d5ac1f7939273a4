import { parseLine } from '../../../provenance/log-line.ts'
import { FieldLineages, presentRef } from '../../fields/field-lineage.ts'
import { FIELD_CHANGES } from '../../fields/stored-changes.ts'
import { runNumber } from '../../rows/stored-rows.ts'
import type { EntryRef, RunEntriesQuery } from '../../sheet-store.ts'
import type { Connection } from '../database/connection.ts'

/** Reads the entries that a run wrote, the last first. */
export async function readRunEntries(
  db: Connection,
  { run, before, limit }: RunEntriesQuery,
): Promise<EntryRef[]> {
  const rows = await db.all(
    'SELECT seq, line FROM "$provenance" WHERE run = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3',
    runNumber(run),
    before ?? Number.MAX_SAFE_INTEGER,
    limit,
  )
  const lineages = new FieldLineages(await db.query(FIELD_CHANGES))
  return rows.map((row) => {
    // Every line of a run is about one cell.
    const line = parseLine(String(row['line'])) as unknown as { record_id: string; field: string }
    return presentRef(lineages, { seq: Number(row['seq']), recordId: line.record_id, field: line.field })
  })
}

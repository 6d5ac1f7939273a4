import { parseStored } from '../../../provenance/log-line.ts'
import { FieldLineages } from '../../fields/field-lineage.ts'
import { FIELD_CHANGES } from '../../fields/stored-changes.ts'
import { enoughEntries, entriesOfLine } from '../../fields/run-entries.ts'
import { runNumber } from '../../rows/stored-rows.ts'
import type { RunEntriesQuery, RunEntry } from '../../sheet-store.ts'
import type { Connection } from '../database/connection.ts'

/** Reads the entries that a run wrote, the last first. */
export async function readRunEntries(
  db: Connection,
  { run, before, limit }: RunEntriesQuery,
): Promise<RunEntry[]> {
  const rows = await db.all(
    `SELECT coalesce(record, (SELECT first FROM "$import" WHERE "$import".seq = entry.seq)) AS record, line
     FROM "$provenance" AS entry WHERE run = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3`,
    runNumber(run),
    before ?? Number.MAX_SAFE_INTEGER,
    limit,
  )
  const lineages = new FieldLineages(await db.query(FIELD_CHANGES))
  return enoughEntries(
    rows
      .values()
      .map((row) => entriesOfLine(lineages, parseStored(String(row['line'])) ?? {}, Number(row['record']))),
    limit,
  )
}

import type { JsonObject } from '../../../contract/json/json.ts'
import { parseLine, parseStored } from '../../../provenance/log-line.ts'
import { FieldLineages } from '../../fields/field-lineage.ts'
import { FIELD_CHANGES } from '../../fields/stored-changes.ts'
import { enoughEntries, entriesOfLine } from '../../fields/run-entries.ts'
import { runNumber } from '../../rows/stored-rows.ts'
import type { RunEntriesQuery, RunEntry } from '../../sheet-store.ts'
import type { Connection } from '../database/connection.ts'
import { lineOf, PACKED } from '../log/stored-line.ts'

/** Reads the entries that a run wrote, the last first. Of the lines of cells, which may be long, only the names are read. */
export function readRunEntries(db: Connection, { run, before, limit }: RunEntriesQuery): RunEntry[] {
  const rows = db.all(
    `SELECT seq, coalesce(record, (SELECT first FROM "$import" WHERE "$import".seq = "$provenance".seq)) AS record, ${PACKED}, iif(line LIKE '%,', NULL, line ->> '$.field') AS field,
       iif(line LIKE '%,', NULL, line ->> '$.record_id') AS record_id,
       iif(line LIKE '%,' OR line ->> '$.field' IS NULL, line, NULL) AS line
     FROM "$provenance" WHERE run = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
    runNumber(run),
    before ?? Number.MAX_SAFE_INTEGER,
    limit,
  )
  const lineages = new FieldLineages(db.query(FIELD_CHANGES))
  const read = ({ seq, field, record_id, line, packed }: (typeof rows)[number]): JsonObject => {
    if (packed instanceof Uint8Array)
      return parseLine(lineOf({ seq: seq ?? null, line: line ?? null, packed })) ?? {}
    return line === null
      ? { seq: Number(seq), record_id: String(record_id), field: String(field) }
      : (parseStored(String(line)) ?? {})
  }
  return enoughEntries(
    rows.values().map((row) => entriesOfLine(lineages, read(row), Number(row['record']))),
    limit,
  )
}

import type { RecordKey } from '../../cell-work.ts'
import type { StoredText } from '../../rules/log/erase.ts'
import type { Connection } from '../database/connection.ts'

/** Returns the lines about a record in all its lives; see {@link ErasingChange.linesOf}. */
export async function linesOfRecord(
  db: Connection,
  recordId: string,
  lives: readonly RecordKey[],
): Promise<readonly StoredText[]> {
  // A condition with OR would read the whole log.
  const rows = await db.all(
    `SELECT seq, line FROM "$provenance" WHERE earlier_id = $1
     UNION ALL SELECT seq, line FROM "$provenance" WHERE record = ANY($2::bigint[])
     UNION ALL SELECT seq, line FROM "$provenance" WHERE seq = ANY(ARRAY(
       SELECT seq FROM "$import" JOIN unnest($2::bigint[]) AS life ON first <= life AND last >= life
     ))
     ORDER BY seq`,
    recordId,
    lives,
  )
  return rows.map((row) => ({ seq: Number(row['seq']), text: String(row['line']) }))
}

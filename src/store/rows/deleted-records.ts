import type { RecordKey } from '../cell-work.ts'
import type { DeletedPage, DeletedRef } from '../sheet-store.ts'
import type { Query, Statement } from './query.ts'

/**
 * Adds the seq of its deletion to each deleted record, in the SQL of both engines: null where the deletion was undone, and for one of an
 * imported log. `integer` is the engine's type.
 */
export function deletionSeqs(integer: string): string {
  return `
  ALTER TABLE "$deleted" ADD COLUMN seq ${integer};
  UPDATE "$deleted" SET seq = (SELECT max(entry.seq) FROM "$provenance" AS entry WHERE entry.record = "$deleted".record);
  CREATE INDEX "$deleted_seq" ON "$deleted" (seq) WHERE seq IS NOT NULL;
`
}

/** Reads deletions that were not undone, newest first. */
export function deletedBefore({ before, limit }: DeletedPage): Query<readonly DeletedRef[]> {
  return {
    sql: `SELECT gone.record_id, gone.seq, EXISTS (
        SELECT 1 FROM "$deleted" AS later WHERE later.record_id = gone.record_id AND later.record > gone.record
      ) AS earlier
      FROM "$deleted" AS gone WHERE gone.seq < ?1 ORDER BY gone.seq DESC LIMIT ?2`,
    params: [before ?? Number.MAX_SAFE_INTEGER, limit],
    result: (rows) =>
      rows.map((row) => ({
        recordId: String(row['record_id']),
        seq: Number(row['seq']),
        isLatest: !row['earlier'],
      })),
  }
}

/** Stores that the deletions that ended these lives of records were undone. */
export function deletionsUndone(lives: readonly RecordKey[]): Statement {
  const keys = lives.map((_, index) => `?${index + 1}`)
  return { sql: `UPDATE "$deleted" SET seq = NULL WHERE record IN (${keys.join(', ')})`, params: lives }
}

import { entryTime, LINE_START } from '../../rows/entry-time.ts'
import { textOrNull } from '../../rows/stored-rows.ts'
import type { Connection } from './connection.ts'

/** Returns the seq of the last provenance line, 0 for none. */
export function lastSeq(db: Connection): number {
  return lastEntry(db).seq
}

/** Returns the time of an entry that is written now; see {@link entryTime}. */
export function entryTimeNow(db: Connection): string {
  return entryTime(new Date().toISOString(), lastEntry(db).line)
}

/** Returns the seq of the last line of the log, and the start of that line. */
export function lastEntry(db: Connection): { readonly seq: number; readonly line: string | null } {
  const row = db.get(
    `SELECT seq, substr(line, 1, ${LINE_START}) AS line FROM "$provenance" ORDER BY seq DESC LIMIT 1`,
  )
  return { seq: Number(row?.['seq'] ?? 0), line: textOrNull(row?.['line']) }
}

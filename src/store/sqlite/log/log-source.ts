import type { LogSource } from '../../../provenance/log-line.ts'
import { lastSeq } from '../database/last-entry.ts'
import type { Connection } from '../database/connection.ts'
import { lineOf, WHOLE_LINE } from './stored-line.ts'

/** Returns the provenance table as the source of the log file; read in pieces, so that no statement stays open. */
export function logSource(db: Connection): LogSource {
  return {
    lastSeq: () => lastSeq(db),
    *linesAfter(seq) {
      for (let after = seq; ;) {
        const lines = db.all(
          `SELECT ${WHOLE_LINE} FROM "$provenance" WHERE seq > ? ORDER BY seq LIMIT 1000`,
          after,
        )
        for (const row of lines) yield { seq: Number(row['seq']), line: lineOf(row) }
        const last = lines.at(-1)
        if (last === undefined) return
        after = Number(last['seq'])
      }
    },
  }
}

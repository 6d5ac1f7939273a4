import { LOG_TEXT_BYTES } from '../../page-bytes.ts'
import type { LogText, LogTextQuery } from '../../sheet-store.ts'
import type { Connection } from '../database/connection.ts'
import { lineOf, WHOLE_LINE } from './stored-line.ts'

/** Reads lines of the log as text. */
export function readLogText(db: Connection, { after, upTo }: LogTextQuery): LogText | null {
  const lines: Buffer[] = []
  let [last, bytes] = [after, 0]
  const rows = db.prepare(`SELECT ${WHOLE_LINE} FROM "$provenance" WHERE seq > ? AND seq <= ? ORDER BY seq`)
  for (const row of rows.iterate(after, upTo)) {
    const line = Buffer.from(`${lineOf(row)}\n`)
    lines.push(line)
    last = Number(row['seq'])
    bytes += line.length
    if (bytes >= LOG_TEXT_BYTES) break
  }
  return lines.length === 0 ? null : { text: Buffer.concat(lines), last }
}

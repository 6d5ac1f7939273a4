import { wholeLine } from '../../../provenance/log-line.ts'
import { LOG_TEXT_BYTES } from '../../page-bytes.ts'
import type { LogText, LogTextQuery } from '../../sheet-store.ts'
import type { Connection } from '../database/connection.ts'
import { lineOf, SHORT_LINE } from './stored-line.ts'

/** The most lines that one statement returns. */
const LINES_AT_ONCE = 4000

/** Selects lines that together have the wanted bytes, the last of them in part; long ones without their text. */
const LINES = `
  SELECT seq, ${SHORT_LINE} AS line FROM (
    SELECT seq, line, sum(octet_length(line)) OVER (ORDER BY seq) - octet_length(line) AS before
    FROM "$provenance" WHERE seq > $1 AND seq <= $2 ORDER BY seq LIMIT $3
  ) AS page WHERE before < $4 ORDER BY seq`

/** Reads lines of the log as text. */
export async function readLogText(
  db: Pick<Connection, 'all'>,
  { after, upTo }: LogTextQuery,
): Promise<LogText | null> {
  const rows = await db.all(LINES, after, upTo, LINES_AT_ONCE, LOG_TEXT_BYTES)
  const lines: Buffer[] = []
  for (const row of rows) lines.push(Buffer.from(`${wholeLine(String(await lineOf(db, row)))}\n`))
  return rows.length === 0 ? null : { text: Buffer.concat(lines), last: Number(rows.at(-1)?.['seq']) }
}

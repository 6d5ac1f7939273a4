import { readStoredInTurns, type StoredLine } from '../../../provenance/log-line.ts'
import type { Connection, StoredRow } from '../database/connection.ts'

/** The size in bytes from which a line or a value is read in pieces. */
export const LONG_BYTES: number = 64 << 10

/** The size in bytes of a piece: the main thread receives a row in one piece. */
const PIECE_BYTES = 256 << 10

/** A SQL expression for the text of a line, null for a long one, of which PostgreSQL then reads only the length. */
export const SHORT_LINE: string = `CASE WHEN octet_length(line) < ${LONG_BYTES} THEN line END`

const PIECES = `
  WITH long AS MATERIALIZED (SELECT convert_to(line, 'UTF8') AS bytes FROM "$provenance" WHERE seq = $1)
  SELECT substring(bytes FROM piece * ${PIECE_BYTES} + 1 FOR ${PIECE_BYTES}) AS bytes
  FROM long CROSS JOIN LATERAL generate_series(0, octet_length(bytes) / ${PIECE_BYTES}) AS piece ORDER BY piece`

/** Returns the line of a row with its `seq` and {@link SHORT_LINE}; null for a row without an entry. */
export async function lineOf(
  db: Pick<Connection, 'all'>,
  { seq, line }: StoredRow,
): Promise<StoredLine | null> {
  if (typeof line === 'string') return line
  if (typeof seq !== 'number') return null
  const rows = await db.all(PIECES, seq)
  return Buffer.concat(rows.flatMap(({ bytes }) => (bytes instanceof Buffer ? [bytes] : [])))
}

/** Returns the time of the entry of a row; null if it has none. */
export async function timeOf(db: Pick<Connection, 'all'>, row: StoredRow): Promise<string | null> {
  const line = await lineOf(db, row)
  const at = line === null ? undefined : (await readStoredInTurns(line))?.['at']
  return typeof at === 'string' ? at : null
}

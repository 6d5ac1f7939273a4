import { partsOf } from '../../../provenance/imported-records.ts'
import type { RecordKey } from '../../cell-work.ts'
import type { StoredText } from '../../rules/log/erase.ts'
import type { Connection } from '../database/connection.ts'
import { quoted } from '../database/schema.ts'
import { lineOf, WHOLE_LINE } from '../log/stored-line.ts'
import { packRows } from './imported-lines.ts'

/** Selects the lines of a life, and the line with imported records that created it. */
const LINES_OF_LIFE = `SELECT ${WHOLE_LINE} FROM "$provenance" WHERE record = ?1
  UNION ALL
  SELECT ${WHOLE_LINE} FROM "$provenance" WHERE seq IN (
    SELECT seq FROM "$import" JOIN "$packed" USING (seq) WHERE first <= ?1 AND last >= ?1
  )`

/** Returns the lines about a record in all its lives; see {@link ErasingChange.linesOf}. */
export function linesOfRecord(
  db: Connection,
  recordId: string,
  lives: readonly RecordKey[],
): readonly StoredText[] {
  const rows = [
    ...db.all(`SELECT ${WHOLE_LINE} FROM "$provenance" WHERE earlier_id = ?`, recordId),
    ...lives.flatMap((life) => db.all(LINES_OF_LIFE, life)),
  ]
  return rows
    .map((row) => ({ seq: Number(row['seq']), text: lineOf(row) }))
    .toSorted((one, other) => one.seq - other.seq)
}

/** Replaces the text of a line, and its rows where it has imported records. */
export function replaceLine(db: Connection, { seq, text }: StoredText): void {
  const { start, rows } = partsOf(text)
  const isPacked = db.get('SELECT 1 FROM "$packed" WHERE seq = ?', seq) !== undefined
  db.run('UPDATE "$provenance" SET line = ? WHERE seq = ?', isPacked ? start : text, seq)
  if (isPacked && rows !== null) db.run('UPDATE "$packed" SET rows = ? WHERE seq = ?', packRows(rows), seq)
}

/** Removes the values that a record keeps in columns; returns whether it had any. */
export function emptyColumns(db: Connection, record: RecordKey, columns: readonly string[]): boolean {
  if (columns.length === 0) return false
  const set = columns.map((column) => `${quoted(column)} = NULL`).join(', ')
  const filled = columns.map((column) => `${quoted(column)} IS NOT NULL`).join(' OR ')
  return db.run(`UPDATE "$data" SET ${set} WHERE "$seq" = ? AND (${filled})`, record) > 0
}

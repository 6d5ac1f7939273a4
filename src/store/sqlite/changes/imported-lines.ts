import { constants, zstdCompressSync } from 'node:zlib'
import type { ImportedRecordsText } from '../../../provenance/imported-records.ts'
import type { RecordKey } from '../../cell-work.ts'
import type { Connection } from '../database/connection.ts'

/** A line with imported records, whose keys follow one another. */
export interface ImportedLine extends ImportedRecordsText {
  readonly first: RecordKey
  readonly count: number
}

/** Stores the records of a line, and its rows, which take a fifth of the space when compressed. */
export function insertImported(db: Connection, seq: number, { first, count, rows }: ImportedLine): void {
  db.run('INSERT INTO "$import" (seq, first, last) VALUES (?, ?, ?)', seq, first, first + count - 1)
  if (rows === null) return
  db.run('INSERT INTO "$packed" (seq, rows) VALUES (?, ?)', seq, packRows(rows))
}

/** Returns the rows of a line as the store has them. */
export function packRows(rows: string): Uint8Array {
  return zstdCompressSync(rows, FAST)
}

/** A higher level takes longer, and saves nothing in so short texts. */
const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

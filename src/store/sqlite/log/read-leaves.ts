import { HASH_BYTES } from '../../../proof/merkle.ts'
import { leafOfLine } from '../../../proof/node-primitives.ts'
import type { LeafHashes } from '../../log-tree-store.ts'
import type { Connection } from '../database/connection.ts'
import { lineOf, LONG_BYTES, WHOLE_LINE } from './stored-line.ts'

/** Characters of lines that are hashed at once, beside one line: a few milliseconds. */
const CHARACTERS_AT_ONCE = 4 << 20

/** The most lines that a thread with other work hashes. */
const FEW_LINES = 64

/** The number of lines after a seq, at most one more than {@link FEW_LINES}, and their bytes; imported records count as long. */
const SIZE_OF_LINES = `SELECT count(*) AS lines, coalesce(sum(bytes), 0) AS bytes FROM (
  SELECT iif(
    EXISTS (SELECT 1 FROM "$packed" WHERE "$packed".seq = "$provenance".seq), ${LONG_BYTES}, octet_length(line)
  ) AS bytes
  FROM "$provenance" WHERE seq > ? ORDER BY seq LIMIT ${FEW_LINES + 1}
)`

/** Returns the leaves of the lines after a seq if these are few and short, as after a small run; null otherwise. */
export function readFewLeaves(db: Connection, after: number, limit: number): LeafHashes | null {
  const row = db.get(SIZE_OF_LINES, after)
  const lines = Number(row?.['lines'])
  if (lines > FEW_LINES || Number(row?.['bytes']) >= LONG_BYTES) return null
  return readLeaves(db, after, Math.min(limit, lines + 1))
}

/** Returns the leaves of lines; see {@link LogTreeStore.leaves}. */
export function readLeaves(db: Connection, after: number, limit: number): LeafHashes {
  const leaves: Uint8Array[] = []
  const seqs: number[] = []
  let characters = 0
  let isLast = true
  const statement = db.prepare(`SELECT ${WHOLE_LINE} FROM "$provenance" WHERE seq > ? ORDER BY seq LIMIT ?`)
  for (const row of statement.iterate(after, limit)) {
    const line = lineOf(row)
    leaves.push(leafOfLine(line))
    seqs.push(Number(row['seq']))
    characters += line.length
    if (characters >= CHARACTERS_AT_ONCE || leaves.length === limit) {
      isLast = false
      break
    }
  }
  return {
    hashes: new Uint8Array(Buffer.concat(leaves, leaves.length * HASH_BYTES)),
    seqs: Float64Array.from(seqs),
    isLast,
  }
}

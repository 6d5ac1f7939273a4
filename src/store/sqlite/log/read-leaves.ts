import { HASH_BYTES } from '../../../proof/merkle.ts'
import { leafOfLine } from '../../../proof/node-primitives.ts'
import type { LeafHashes } from '../../log-tree-store.ts'
import type { Connection } from '../database/connection.ts'
import { lineOf, WHOLE_LINE } from './stored-line.ts'

/** Characters of lines that are hashed at once, beside one line: a few milliseconds. */
const CHARACTERS_AT_ONCE = 4 << 20

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

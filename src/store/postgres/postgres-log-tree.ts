import { HASH_BYTES } from '../../proof/merkle.ts'
import { leafOfLine } from '../../proof/node-primitives.ts'
import type { LeafHashes, LogTreeStore } from '../log-tree-store.ts'
import { addCheckpoint, addNodes } from '../rules/log/add-checkpoint.ts'
import { storedLogTree } from '../rules/log/stored-log-tree.ts'
import { runAsync } from '../rules/steps.ts'
import type { Connection } from './database/connection.ts'
import type { Writer } from './write/writer.ts'

/** Hashes lines as `leafOfLine` does; of one from which values were erased it returns the text. */
const LEAVES = `SELECT seq, sha256('\\x00'::bytea || convert_to(line, 'UTF8')) AS hash,
    CASE WHEN substr(line, length(seq::text) + 8, 11) = ',"erased":"' THEN line END AS erased
  FROM "$provenance" WHERE seq > $1 ORDER BY seq LIMIT $2`

/** Returns the Merkle tree of the log of a store in PostgreSQL. */
export function postgresLogTree(db: Connection, writer: Pick<Writer, 'change'>): LogTreeStore {
  return storedLogTree({
    query: (query) => db.query(query),
    leaves: (after, limit) => readLeaves(db, after, limit),
    line: async (seq) => {
      const row = await db.get('SELECT line FROM "$provenance" WHERE seq = $1', seq)
      return row === undefined ? null : String(row['line'])
    },
    addNodes: (nodes) => writer.change((change) => runAsync(addNodes(change, nodes))),
    addCheckpoint: (checkpoint) => writer.change((change) => runAsync(addCheckpoint(change, checkpoint))),
  })
}

async function readLeaves(db: Connection, after: number, limit: number): Promise<LeafHashes> {
  const rows = await db.all(LEAVES, after, limit)
  const leaves = rows.map(({ hash, erased }) =>
    typeof erased === 'string' ? leafOfLine(erased) : (hash as Buffer),
  )
  return {
    hashes: new Uint8Array(Buffer.concat(leaves, leaves.length * HASH_BYTES)),
    seqs: Float64Array.from(rows, ({ seq }) => Number(seq)),
    isLast: rows.length < limit,
  }
}

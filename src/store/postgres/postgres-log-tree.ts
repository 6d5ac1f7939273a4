import { HASH_BYTES } from '../../proof/merkle.ts'
import type { LeafHashes, LogTreeStore } from '../log-tree-store.ts'
import { addCheckpoint, addNodes } from '../rules/log/add-checkpoint.ts'
import { storedLogTree } from '../rules/log/stored-log-tree.ts'
import { runAsync } from '../rules/steps.ts'
import type { Connection } from './database/connection.ts'
import type { Writer } from './write/writer.ts'

/** Hashes lines as `leafHash` does. */
const LEAVES = `SELECT seq, sha256('\\x00'::bytea || convert_to(line, 'UTF8')) AS hash
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
  const leaves = rows.map(({ hash }) => hash as Buffer)
  return {
    hashes: new Uint8Array(Buffer.concat(leaves, leaves.length * HASH_BYTES)),
    seqs: Float64Array.from(rows, ({ seq }) => Number(seq)),
    isLast: rows.length < limit,
  }
}

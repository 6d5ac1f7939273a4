import { HASH_BYTES } from '../../proof/merkle.ts'
import { erasedLeaf, ERASED_BYTES } from '../../proof/line-leaf.ts'
import type {
  LeafHashes,
  LinePlace,
  LogTreeStore,
  NewCheckpoint,
  StoredCheckpoint,
  TreeNode,
} from '../log-tree-store.ts'
import {
  checkpointsAfter,
  LAST_CHECKPOINT,
  linesBefore,
  nodeHashes,
  placeOfLine,
  TREE_END,
} from '../rows/log-tree.ts'
import { addCheckpoint, addNodes } from '../rules/log/add-checkpoint.ts'
import { runAsync } from '../rules/steps.ts'
import type { Connection } from './database/connection.ts'
import type { Writer } from './write/writer.ts'

interface Parts {
  readonly writer: Pick<Writer, 'change'>
  readonly db: Connection
}

/** Hashes lines as `leafHash` does; returns the text of those that may be erased. */
const LEAVES = `SELECT seq, sha256('\\x00'::bytea || convert_to(line, 'UTF8')) AS hash,
    CASE WHEN octet_length(line) <= ${ERASED_BYTES} AND line LIKE '%"erased":%' THEN line END AS line
  FROM "$provenance" WHERE seq > $1 ORDER BY seq LIMIT $2`

/** The Merkle tree of the log of a store in PostgreSQL. */
export class PostgresLogTree implements LogTreeStore {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async leaves(after: number, limit: number): Promise<LeafHashes> {
    const rows = await this.#parts.db.all(LEAVES, after, limit)
    const leaves = rows.map(({ hash, line }) => {
      return (typeof line === 'string' ? erasedLeaf(line) : null) ?? (hash as Buffer)
    })
    return {
      hashes: new Uint8Array(Buffer.concat(leaves, leaves.length * HASH_BYTES)),
      seqs: Float64Array.from(rows, ({ seq }) => Number(seq)),
    }
  }

  end(): Promise<LinePlace> {
    return this.#parts.db.query(TREE_END)
  }

  before(number: number): Promise<LinePlace> {
    return this.#parts.db.query(linesBefore(number))
  }

  nodes(level: number, from: number, to: number): Promise<readonly Uint8Array[]> {
    return this.#parts.db.query(nodeHashes(level, from, to))
  }

  placeOf(seq: number): Promise<LinePlace | null> {
    return this.#parts.db.query(placeOfLine(seq))
  }

  async line(seq: number): Promise<string | null> {
    const row = await this.#parts.db.get('SELECT line FROM "$provenance" WHERE seq = $1', seq)
    return row === undefined ? null : String(row['line'])
  }

  addNodes(nodes: readonly TreeNode[]): Promise<void> {
    return this.#parts.writer.change((change) => runAsync(addNodes(change, nodes)))
  }

  lastCheckpoint(): Promise<StoredCheckpoint | null> {
    return this.#parts.db.query(LAST_CHECKPOINT)
  }

  checkpoints(after: number, limit: number): Promise<readonly StoredCheckpoint[]> {
    return this.#parts.db.query(checkpointsAfter(after, limit))
  }

  addCheckpoint(checkpoint: NewCheckpoint): Promise<boolean> {
    return this.#parts.writer.change((change) => runAsync(addCheckpoint(change, checkpoint)))
  }
}

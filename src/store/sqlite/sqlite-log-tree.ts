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
import type { Query } from '../rows/query.ts'
import { reading } from './database/reading.ts'
import type { Reader } from './read/reader.ts'
import type { WriterClient } from './write/writer-client.ts'

interface Parts {
  readonly writer: WriterClient
  readonly reader: Reader
}

/** The Merkle tree of the log of a store in SQLite. */
export class SqliteLogTree implements LogTreeStore {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  leaves(after: number, limit: number): Promise<LeafHashes> {
    return this.#parts.reader.leaves(after, limit)
  }

  async end(): Promise<LinePlace> {
    return this.#query(TREE_END)
  }

  async before(number: number): Promise<LinePlace> {
    return this.#query(linesBefore(number))
  }

  async nodes(level: number, from: number, to: number): Promise<readonly Uint8Array[]> {
    return this.#query(nodeHashes(level, from, to))
  }

  async placeOf(seq: number): Promise<LinePlace | null> {
    return this.#query(placeOfLine(seq))
  }

  line(seq: number): Promise<string | null> {
    return this.#parts.reader.line(seq)
  }

  addNodes(nodes: readonly TreeNode[]): Promise<void> {
    return this.#parts.writer.call('addNodes', nodes)
  }

  async lastCheckpoint(): Promise<StoredCheckpoint | null> {
    return this.#query(LAST_CHECKPOINT)
  }

  async checkpoints(after: number, limit: number): Promise<readonly StoredCheckpoint[]> {
    return this.#query(checkpointsAfter(after, limit))
  }

  addCheckpoint(checkpoint: NewCheckpoint): Promise<boolean> {
    return this.#parts.writer.call('addCheckpoint', checkpoint)
  }

  #query<T>(query: Query<T>): T {
    return reading(() => this.#parts.reader.connection.query(query))
  }
}

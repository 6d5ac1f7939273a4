import {
  NODE_LINES,
  TREE_LEVELS,
  type LinePlace,
  type StoredCheckpoint,
  type TreeNode,
} from '../log-tree-store.ts'
import type { Query, QueryRow, Statement } from './query.ts'

/** Types and options of the tables of an engine. */
interface TableDialect {
  readonly integer: string
  readonly text: string
  readonly bytes: string
  readonly flag: string
  readonly options: string
}

const [LOWEST] = TREE_LEVELS

/**
 * Creates the tables of the Merkle tree of the log and of its checkpoints, in the SQL of an engine.
 * - `$log_node`: nodes of the tree; `seq` is that of the last line of the node.
 * - `$checkpoint`: the texts of checkpoints, in the order in which they were made; `seq` is that of the last line they cover.
 */
export function logTreeTables({ integer, text, bytes, flag, options }: TableDialect): string {
  return `
    CREATE TABLE "$log_node" (
      level ${integer} NOT NULL, number ${integer} NOT NULL, seq ${integer} NOT NULL, hash ${bytes} NOT NULL,
      PRIMARY KEY (level, number)
    ) ${options};
    CREATE INDEX "$log_node_seq" ON "$log_node" (level, seq);
    CREATE TABLE "$checkpoint" (
      number ${integer} PRIMARY KEY, size ${integer} NOT NULL, seq ${integer} NOT NULL,
      signed ${flag} NOT NULL, note ${text} NOT NULL, at ${text} NOT NULL
    ) ${options};
  `
}

/** Reads the lines that the stored nodes of the lowest level cover. */
export const TREE_END: Query<LinePlace> = {
  sql: `SELECT number, seq FROM "$log_node" WHERE level = ${LOWEST} ORDER BY number DESC LIMIT 1`,
  params: [],
  result: ([row]) => placeOfNode(row),
}

/** Reads the lines that the nodes of the lowest level before a number cover. */
export function linesBefore(number: number): Query<LinePlace> {
  return {
    sql: `SELECT number, seq FROM "$log_node" WHERE level = ${LOWEST} AND number = ?1 - 1`,
    params: [number],
    result: ([row]) => placeOfNode(row),
  }
}

export function nodeHashes(level: number, from: number, to: number): Query<readonly Uint8Array[]> {
  return {
    sql: 'SELECT hash FROM "$log_node" WHERE level = ?1 AND number >= ?2 AND number < ?3 ORDER BY number',
    params: [level, from, to],
    result: (rows) => rows.map((row) => row['hash'] as Uint8Array),
  }
}

/** Reads the place of the line with a seq; null where there is no such line. */
export function placeOfLine(seq: number): Query<LinePlace | null> {
  return {
    // The lines of one node, or those after the last.
    sql: `WITH node AS (
        SELECT coalesce(max(number) + 1, 0) AS number, coalesce(max(seq), 0) AS seq FROM (
          SELECT number, seq FROM "$log_node" WHERE level = ${LOWEST} AND seq < ?1 ORDER BY seq DESC LIMIT 1
        ) AS before)
      SELECT node.number * ${NODE_LINES} + (
        SELECT count(*) FROM "$provenance" WHERE "$provenance".seq > node.seq AND "$provenance".seq <= ?1) AS lines
      FROM node WHERE EXISTS (SELECT 1 FROM "$provenance" WHERE "$provenance".seq = ?1)`,
    params: [seq],
    result: ([row]) => (row === undefined ? null : { lines: Number(row['lines']), seq }),
  }
}

/** Reads the last checkpoint; null for none. */
export const LAST_CHECKPOINT: Query<StoredCheckpoint | null> = {
  sql: 'SELECT number, size, seq, signed, note, at FROM "$checkpoint" ORDER BY number DESC LIMIT 1',
  params: [],
  result: ([row]) => (row === undefined ? null : checkpointOf(row)),
}

/** Reads the texts of all checkpoints. */
export const NOTES: Query<readonly string[]> = {
  sql: 'SELECT note FROM "$checkpoint" ORDER BY number',
  params: [],
  result: (rows) => rows.map((row) => String(row['note'])),
}

/** Reads their bytes, with a line break after each. */
export const NOTES_SIZE: Query<number> = {
  sql: 'SELECT coalesce(sum(octet_length(note) + 1), 0) AS bytes FROM "$checkpoint"',
  params: [],
  result: ([row]) => Number(row?.['bytes']),
}

export function insertCheckpoint({ number, size, seq, isSigned, note, at }: StoredCheckpoint): Statement {
  return {
    sql: `INSERT INTO "$checkpoint" (number, size, seq, signed, note, at) VALUES (?1, ?2, ?3, ${isSigned ? 'TRUE' : 'FALSE'}, ?4, ?5)`,
    params: [number, size, seq, note, at],
  }
}

export function insertNodes(nodes: readonly TreeNode[]): Statement {
  const rows = nodes.map((_, index) => `(${[1, 2, 3, 4].map((place) => `?${4 * index + place}`).join(', ')})`)
  return {
    sql: `INSERT INTO "$log_node" (level, number, seq, hash) VALUES ${rows.join(', ')} ON CONFLICT DO NOTHING`,
    params: nodes.flatMap(({ level, number, seq, hash }) => [level, number, seq, hash]),
  }
}

function placeOfNode(row: QueryRow | undefined): LinePlace {
  return row === undefined
    ? { lines: 0, seq: 0 }
    : { lines: (Number(row['number']) + 1) * NODE_LINES, seq: Number(row['seq']) }
}

function checkpointOf(row: QueryRow): StoredCheckpoint {
  return {
    number: Number(row['number']),
    size: Number(row['size']),
    seq: Number(row['seq']),
    isSigned: row['signed'] === true || row['signed'] === 1,
    note: String(row['note']),
    at: String(row['at']),
  }
}

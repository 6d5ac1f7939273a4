import type { Contract, Field, LogicalType } from '../../contract/contract.ts'

/** Version of the tables below; a store of a later version is refused. */
export const SCHEMA_VERSION = 1

/**
 * The tables of a store. Every internal name contains `$`, which no field name can (D5).
 *
 * - `$sheet`: one line of facts about the store. `last_record`: the last key given out. `mirror_*`: up to where `provenance.jsonl` is known to be good.
 * - `$target`: the derived fields, active or once active, with the counters that status reads (D32).
 * - `$cell`: computed cells with the hash of their last success, and overridden ones, whose hash is null.
 * - `$todo`: the sparse list of cells that are missing, stale or failed; what is in neither table does not exist.
 * - `$provenance`: the log; `line` is exactly the line of `provenance.jsonl`. `earlier_id` is the record's id in a log
 *   that was there before the store.
 * - `$deleted`: keys that ids once had. A key is never used again, so each stands for one life of a record.
 * - `$import`: which records an import line covers.
 *
 * `mark` is the `seq` of the provenance entry that last wrote the cell (`$cell`) or touched its inputs (`$todo`).
 */
export const INTERNAL_TABLES = `
  CREATE TABLE "$sheet" (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    schema_version INTEGER NOT NULL,
    contract TEXT NOT NULL,
    cursor_key BLOB NOT NULL,
    records INTEGER NOT NULL DEFAULT 0,
    last_record INTEGER NOT NULL DEFAULT 0,
    source_size INTEGER, source_mtime INTEGER, source_sha256 TEXT,
    mirror_seq INTEGER NOT NULL DEFAULT 0,
    mirror_offset INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE "$target" (
    id INTEGER PRIMARY KEY,
    field TEXT NOT NULL UNIQUE,
    derivation TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    kind TEXT NOT NULL,
    inputs TEXT NOT NULL,
    active INTEGER NOT NULL,
    missing INTEGER NOT NULL DEFAULT 0,
    stale INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    overridden INTEGER NOT NULL DEFAULT 0,
    last_at TEXT, last_actor TEXT, last_error TEXT
  ) STRICT;
  CREATE TABLE "$cell" (
    target INTEGER NOT NULL, record INTEGER NOT NULL, hash BLOB, mark INTEGER NOT NULL,
    PRIMARY KEY (target, record)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE "$todo" (
    target INTEGER NOT NULL, record INTEGER NOT NULL, state INTEGER NOT NULL, mark INTEGER NOT NULL,
    PRIMARY KEY (target, record)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE "$failure" (
    target INTEGER NOT NULL, record INTEGER NOT NULL,
    error TEXT NOT NULL, error_type TEXT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (target, record)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE "$cache" (hash BLOB PRIMARY KEY, entry TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE "$provenance" (
    seq INTEGER PRIMARY KEY, record INTEGER, earlier_id TEXT, line TEXT NOT NULL
  ) STRICT;
  CREATE INDEX "$provenance_of_record" ON "$provenance" (record) WHERE record IS NOT NULL;
  CREATE INDEX "$provenance_of_earlier" ON "$provenance" (earlier_id) WHERE earlier_id IS NOT NULL;
  CREATE TABLE "$deleted" (
    record_id TEXT NOT NULL, record INTEGER NOT NULL, PRIMARY KEY (record_id, record)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE "$import" (seq INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL) STRICT;
`

/** States of `$todo`. */
export const MISSING = 1
export const STALE = 2
export const FAILED = 3

export type TodoState = typeof MISSING | typeof STALE | typeof FAILED

const COLUMN_TYPES = {
  string: 'TEXT',
  date: 'TEXT',
  timestamp: 'TEXT',
  time: 'TEXT',
  integer: 'INTEGER',
  number: 'REAL',
  boolean: 'INTEGER',
  array: 'TEXT',
  object: 'TEXT',
} as const satisfies Record<LogicalType, string>

/** Quotes an identifier. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** The column that holds a field. Constraints are the contract's, checked before writing; only `id` is the table's. */
export function columnDefinition(field: Field): string {
  const type = COLUMN_TYPES[field.type]
  return `${quoted(field.name)} ${type}${field.primaryKey ? ' NOT NULL UNIQUE' : ''}`
}

/** Creates the table of records: a row a record, in creation order. `$version` is the seq of its last change. */
export function dataTable(contract: Contract): string {
  const columns = contract.fields.map(columnDefinition)
  return `CREATE TABLE "$data" (
    "$seq" INTEGER PRIMARY KEY, "$version" INTEGER NOT NULL, ${columns.join(', ')}
  ) STRICT`
}

/** Creates the view that SQL from users sees: exactly the contract's fields in its order. */
export function recordsView(contract: Contract): string {
  return `CREATE VIEW records AS SELECT ${contract.fields.map((field) => quoted(field.name)).join(', ')} FROM "$data"`
}

/**
 * Creates the index behind a unique field. It finds who has a value and refuses nothing: within a batch two records
 * may have the same value for a moment, when they swap theirs, and SQLite cannot put the check off until the end.
 */
export function uniqueIndex(field: Field): string {
  return `CREATE INDEX ${quoted(uniqueIndexName(field))} ON "$data" (${quoted(field.name)})`
}

/** Name of the index behind a unique field. */
export function uniqueIndexName(field: Field): string {
  return `$unique_${field.name}`
}

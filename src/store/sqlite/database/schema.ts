import type { Contract, Field, LogicalType } from '../../../contract/contract.ts'
import type { KeptColumn } from '../../fields/stored-changes.ts'
import { definitionTables } from '../../rows/definition-tables.ts'
import { FAILURE_GROUP_INDEXES, failureGroupColumns } from '../../rows/failure-groups.ts'
import { writersOfCells, writtenTables } from '../../rows/written-values.ts'
import { recordingTable } from '../../rules/recording/recording.ts'
import { logTreeTables } from '../../rows/log-tree.ts'
import { namedTable } from '../../rows/named-tables.ts'
import { deletedBlocksTable } from '../../rows/deleted-blocks.ts'
import { reviewTable } from '../../rows/reviews.ts'
import { blockedCounters } from '../../rows/blocked-sql.ts'
import { deletionSeqs } from '../../rows/deleted-records.ts'
import { PROPOSAL_PARTS } from '../../rows/proposal-tables.ts'
import { STATE_INDEXES } from '../../rows/state-tables.ts'

/** Version of the tables below; a store of a later version is refused. */
export const SCHEMA_VERSION = 35

/**
 * The tables of the first version. {@link MIGRATIONS} adds those of later versions, to new and existing stores.
 * Every internal name contains `$`, which no field name can (D5).
 *
 * - `$sheet`: one row of facts about the store. `last_record`: the last key that was assigned. `mirror_*`: the position up to
 *   which `provenance.jsonl` is verified.
 * - `$target`: the derived fields, active or once active, with the counters that status reads (D32).
 * - `$cell`: computed cells with the hash of their last success, and overridden ones, whose hash is null.
 * - `$todo`: pending cells, which are missing, stale or failed. A cell in neither table belongs to no record.
 * - `$provenance`: the log; `line` is the line of `provenance.jsonl`, or the start of one, see {@link wholeLine}. `earlier_id` is the
 *   record's id in an imported log.
 * - `$deleted`: former keys of ids. A key is never reused, so each identifies one life of a record.
 * - `$import`: the records of an import line, or of a line with imported records.
 *
 * `mark` is the `seq` of the provenance entry that last wrote the cell (`$cell`) or its inputs (`$todo`).
 */
export const FIRST_TABLES = `
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

/**
 * The SQL that each version after the first adds.
 *
 * 2: runs.
 * - `$run`: a row for each run. `waits_until` is set until it has the run lock, `active_at` is the time when it last
 *   stored something, `request` is JSON of its request without `record_ids`, which can be long and has its own column.
 * - `$run_failure`: cells that failed in a run, numbered in order.
 * - `$provenance.run`: the run that wrote the line.
 * - `$derivation`: every version of a derivation file, numbered in order.
 * - `$sheet.last_run`: the last run id that was assigned. `$sheet.history_after`: the last seq of an imported log.
 *
 * 3: proposals.
 * - `$proposal`: a row for each. `bytes`: the size of its records.
 * - `$proposal_record`: the change of each record. `record` and `version` are the record's key and version when it was
 *   proposed, null where it did not exist; `was` is JSON of the values of its fields at that time, `change` of the proposed
 *   values, null for a deletion.
 * - `$sheet.last_proposal`: the last proposal id that was assigned. `$sheet.proposal_changes` increases whenever one is made or decided.
 *
 * 4: indexes of fields that are `indexed` without being unique; see {@link fieldIndexes}.
 *
 * 5: `$provenance.line` of a new record is the start of its line.
 *
 * 6: `$deleted_block`: the number of keys of each block in `$deleted`; see `deleted-blocks.ts`.
 *
 * 7: `response_body` of failures: the beginning of the response of a failed call.
 *
 * 8: kept responses.
 * - `$response`: a row for each, by the key of its request. `at` is the time of its receipt, `used` that of its last receipt or
 *   use, in milliseconds since 1970; `bytes` is its size as counted towards the limit.
 * - `$sheet.response_bytes`: an upper bound of the kept bytes; exact after every removal. `response_limit`: null is the default.
 *
 * 9: `$run.unpriced_calls` and `$run.left_cells`: calls without a known price, and cells that the bounds of a run
 * left pending.
 *
 * 10: blocked cells.
 * - `$target.required`: the inputs without whose value no request is made; null until the derivations are applied to a
 *   store of an earlier version. `$target.blocked` counts blocked cells.
 * - `$todo.blocked`: whether the cell is blocked because of an input.
 *
 * 11: lasting failures, and empty texts.
 * - `$failure.hash`: the input hash of a failure that is expected to last; null for any other.
 * - `$target.non_empty`: the required inputs whose empty text counts as no value; null where `required` is.
 *
 * 12: `$run_body`: the beginnings of responses of a run's failures, each once; `$run_failure.body` is its key, and in rows of
 *   earlier versions `response_body` has it. `$run_failure.field` can be several, see `run-failures.ts`. The request of a run has each target once.
 *
 * 13: `$run.manual_left` and `$run.manual_overwritten`: of the cells that were overridden when the run began, those that still
 *   are, and those that the run computed.
 *
 * 14: `$run.error_code`: the code of the error that ended the run. `$failure.reason` and `$run_failure.reason`: the reason of the
 *   failure. Null in rows of earlier versions.
 *
 * 15: `$target.sources`: the version of the files that results depend on beside the inputs; null for none.
 *   `$target.checked_sources`: the version for which the states of cells were last checked.
 *
 * 16: `$run_failure.detail`: the error without its request. Null in rows of earlier versions.
 *
 * 17: `$target.reads`: JSON of the fields that the query of a derivation reads in all records; null without one. `sources` is then the
 *   version of these fields: the seq of the last entry that changed one, or the set of records.
 *
 * 18: `$usage`: what the computations of a key have used, as JSON.
 *
 * 19: changes of fields. The table of records has further columns since then, see `kept-columns.ts`.
 * - `$field_change`: the changes of fields in the log, as JSON, with the columns that keep earlier values.
 * - `$target.changed`: the seq of the last of them that concerned it or its inputs; 0 for none.
 *
 * 20: changes of the definition; see {@link definitionTables}.
 *
 * 21: `$proposal.fields_seq`: the seq of the last change of fields when it was made, whose names and types its values have.
 *
 * 22: proposed changes of the definition.
 * - `$proposal.definition`: the change as JSON of a {@link ProposedDefinition}; null for a change of records.
 * - `$definition_change.proposal`: the accepted proposal whose change it is; null for none.
 *
 * 23: {@link STATE_INDEXES}.
 *
 * 24: reviews; see {@link reviewTable}.
 *
 * 25: views; see {@link namedTable}.
 *
 * 26: {@link PROPOSAL_PARTS}.
 *
 * 27: {@link deletionSeqs}.
 *
 * 28: {@link blockedCounters}.
 *
 * 29: {@link writtenTables}.
 *
 * 30: charts; see {@link namedTable}.
 *
 * 31: {@link failureGroupColumns}.
 *
 * 32: {@link recordingTable}.
 * 33: {@link logTreeTables}.
 *
 * 34: `$sheet.mirror_file`: names of the files that `sheet.db` and `provenance.jsonl` were when the log was last verified; null in stores of earlier versions.
 *
 * 35: `$packed`: the rows of lines with imported records, compressed with Zstandard; `$provenance.line` is then the line without them.
 */
export const MIGRATIONS: Readonly<Record<number, string>> = {
  2: `
  ALTER TABLE "$sheet" ADD COLUMN last_run INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE "$sheet" ADD COLUMN history_after INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE "$provenance" ADD COLUMN run INTEGER;
  CREATE INDEX "$provenance_of_run" ON "$provenance" (run) WHERE run IS NOT NULL;
  CREATE INDEX "$deleted_record" ON "$deleted" (record);
  CREATE TABLE "$run" (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL, reverts INTEGER, state TEXT NOT NULL, actor TEXT NOT NULL, request TEXT NOT NULL, record_ids TEXT,
    started_at TEXT NOT NULL, waits_until TEXT, active_at TEXT NOT NULL, ended_at TEXT,
    total INTEGER NOT NULL DEFAULT 0, materialized INTEGER NOT NULL DEFAULT 0,
    skipped INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0,
    calls INTEGER NOT NULL DEFAULT 0, total_cost REAL NOT NULL DEFAULT 0,
    error TEXT, error_type TEXT, cancelled_by TEXT
  ) STRICT;
  CREATE INDEX "$run_running" ON "$run" (id) WHERE state = 'running';
  CREATE TABLE "$run_failure" (
    run INTEGER NOT NULL, number INTEGER NOT NULL, record_id TEXT NOT NULL, field TEXT NOT NULL,
    error TEXT NOT NULL, error_type TEXT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (run, number)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE "$derivation" (
    number INTEGER PRIMARY KEY,
    file TEXT NOT NULL, sha256 TEXT NOT NULL, text TEXT NOT NULL, at TEXT NOT NULL,
    UNIQUE (file, sha256)
  ) STRICT;
  UPDATE "$sheet" SET history_after = coalesce(
    (SELECT seq - 1 FROM "$provenance" WHERE record IS NOT NULL OR seq IN (SELECT seq FROM "$import") ORDER BY seq LIMIT 1),
    (SELECT max(seq) FROM "$provenance"),
    0);
  `,
  3: `
  ALTER TABLE "$sheet" ADD COLUMN last_proposal INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE "$sheet" ADD COLUMN proposal_changes INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE "$proposal" (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL, state TEXT NOT NULL, actor TEXT NOT NULL, note TEXT, at TEXT NOT NULL,
    records INTEGER NOT NULL, bytes INTEGER NOT NULL,
    decided_by TEXT, decided_at TEXT, reason TEXT
  ) STRICT;
  CREATE INDEX "$proposal_state" ON "$proposal" (state, id);
  CREATE TABLE "$proposal_record" (
    proposal INTEGER NOT NULL, number INTEGER NOT NULL, record_id TEXT NOT NULL,
    record INTEGER, version INTEGER, was TEXT NOT NULL, change TEXT,
    PRIMARY KEY (proposal, number)
  ) STRICT, WITHOUT ROWID;
  `,
  4: '',
  5: '',
  6: deletedBlocksTable('INTEGER', 'STRICT, WITHOUT ROWID'),
  7: `
  ALTER TABLE "$failure" ADD COLUMN response_body TEXT;
  ALTER TABLE "$run_failure" ADD COLUMN response_body TEXT;
  `,
  8: `
  ALTER TABLE "$sheet" ADD COLUMN response_bytes INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE "$sheet" ADD COLUMN response_limit INTEGER;
  CREATE TABLE "$response" (
    hash BLOB NOT NULL PRIMARY KEY, at INTEGER NOT NULL, used INTEGER NOT NULL, bytes INTEGER NOT NULL,
    status INTEGER NOT NULL, duration_ms INTEGER NOT NULL, body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX "$response_used" ON "$response" (used, bytes, at);
  `,
  9: `
  ALTER TABLE "$run" ADD COLUMN unpriced_calls INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE "$run" ADD COLUMN left_cells INTEGER NOT NULL DEFAULT 0;
  `,
  10: `
  ALTER TABLE "$target" ADD COLUMN required TEXT;
  ALTER TABLE "$target" ADD COLUMN blocked INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE "$todo" ADD COLUMN blocked INTEGER NOT NULL DEFAULT 0;
  `,
  11: `
  ALTER TABLE "$failure" ADD COLUMN hash BLOB;
  ALTER TABLE "$target" ADD COLUMN non_empty TEXT;
  `,
  12: `
  CREATE TABLE "$run_body" (
    run INTEGER NOT NULL, hash BLOB NOT NULL, body TEXT NOT NULL, PRIMARY KEY (run, hash)
  ) STRICT, WITHOUT ROWID;
  ALTER TABLE "$run_failure" ADD COLUMN body BLOB;
  UPDATE "$run" SET request = json_set(request, '$.targets', json((
    SELECT json_group_array(value) FROM (
      SELECT value FROM json_each(request, '$.targets') GROUP BY value ORDER BY min(key)
    )
  ))) WHERE length(request) > 65536 AND json_type(request, '$.targets') = 'array';
  `,
  13: `
  ALTER TABLE "$run" ADD COLUMN manual_left INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE "$run" ADD COLUMN manual_overwritten INTEGER NOT NULL DEFAULT 0;
  `,
  14: `
  ALTER TABLE "$run" ADD COLUMN error_code TEXT;
  ALTER TABLE "$failure" ADD COLUMN reason TEXT;
  ALTER TABLE "$run_failure" ADD COLUMN reason TEXT;
  `,
  15: `
  ALTER TABLE "$target" ADD COLUMN sources TEXT;
  ALTER TABLE "$target" ADD COLUMN checked_sources TEXT;
  `,
  16: `
  ALTER TABLE "$run_failure" ADD COLUMN detail TEXT;
  `,
  17: `
  ALTER TABLE "$target" ADD COLUMN reads TEXT;
  `,
  18: `
  CREATE TABLE "$usage" (key TEXT PRIMARY KEY, usage TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  19: `
  CREATE TABLE "$field_change" (seq INTEGER PRIMARY KEY, "change" TEXT NOT NULL) STRICT;
  ALTER TABLE "$target" ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
  `,
  20: definitionTables({ integer: 'INTEGER', text: 'TEXT', bytes: 'BLOB', options: 'STRICT' }),
  21: `
  ALTER TABLE "$proposal" ADD COLUMN fields_seq INTEGER NOT NULL DEFAULT 0;
  `,
  22: `
  ALTER TABLE "$proposal" ADD COLUMN definition TEXT;
  ALTER TABLE "$definition_change" ADD COLUMN proposal INTEGER;
  `,
  23: STATE_INDEXES,
  24: reviewTable({ integer: 'INTEGER', text: 'TEXT', flag: 'INTEGER', options: 'STRICT' }),
  25: namedTable('$view', { integer: 'INTEGER', text: 'TEXT', options: 'STRICT' }),
  26: PROPOSAL_PARTS,
  27: deletionSeqs('INTEGER'),
  28: blockedCounters('INTEGER'),
  29:
    writtenTables({ integer: 'INTEGER', text: 'TEXT', options: 'STRICT' }) +
    writersOfCells((number) => `(1 << (${number}))`),
  30: namedTable('$chart', { integer: 'INTEGER', text: 'TEXT', options: 'STRICT' }),
  31: failureGroupColumns({ integer: 'INTEGER', text: 'TEXT' }) + FAILURE_GROUP_INDEXES,
  32: recordingTable({ integer: 'INTEGER', text: 'TEXT', options: 'STRICT' }),
  33: logTreeTables({ integer: 'INTEGER', text: 'TEXT', bytes: 'BLOB', flag: 'INTEGER', options: 'STRICT' }),
  34: 'ALTER TABLE "$sheet" ADD COLUMN mirror_file TEXT;',
  35: 'CREATE TABLE "$packed" (seq INTEGER PRIMARY KEY, rows BLOB NOT NULL) STRICT;',
}

/** Creates the tables of a new store. */
export const INTERNAL_TABLES = [FIRST_TABLES, ...Object.values(MIGRATIONS)].join('\n')

export const COLUMN_TYPES = {
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

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Returns the column of a field. Constraints are the contract's, checked before writing; only `id` is the table's. */
export function columnDefinition(field: Pick<Field, 'name' | 'type'> & Partial<Field>): string {
  const type = COLUMN_TYPES[field.type]
  return `${quoted(field.name)} ${type}${field.primaryKey === true ? ' NOT NULL UNIQUE' : ''}`
}

/**
 * Creates the table of records: a row a record, in creation order. `$version` is the seq of its last change. `kept` are the
 * columns that keep earlier values.
 */
export function dataTable(contract: Contract, kept: readonly KeptColumn[] = []): string {
  const columns = [...contract.fields, ...kept].map((field) => columnDefinition(field))
  return `CREATE TABLE "$data" (
    "$seq" INTEGER PRIMARY KEY, "$version" INTEGER NOT NULL, ${columns.join(', ')}
  ) STRICT`
}

/** Creates the view that SQL from users sees: exactly the contract's fields in its order. */
export function recordsView(contract: Contract): string {
  return `CREATE VIEW records AS SELECT ${contract.fields.map((field) => quoted(field.name)).join(', ')} FROM "$data"`
}

/** An index of the table of records. */
export interface FieldIndex {
  readonly name: string
  readonly field: string
  /** The statement that creates it. */
  readonly sql: string
  /** The first version of the store that has it. */
  readonly since: number
}

/**
 * Returns the indexes of a contract's fields, except that of `id`, which is the table's.
 *
 * The index of a unique field finds records by value and enforces nothing: within a batch two records may have the same
 * value for a moment, when they swap theirs, and SQLite cannot defer the check to the end. Timestamps are found by their
 * text and sorted by their time, which takes an index each.
 */
export function fieldIndexes({ fields }: Pick<Contract, 'fields'>): FieldIndex[] {
  return fields.flatMap((field) => {
    const { name, primaryKey, unique, indexed, type } = field
    const column = quoted(name)
    const indexes: FieldIndex[] = []
    if ((unique || indexed) && !primaryKey)
      indexes.push(fieldIndex(unique ? 'unique' : 'index', name, column))
    if (indexed && type === 'timestamp') indexes.push(fieldIndex('moment', name, momentOf(column)))
    return indexes
  })
}

type IndexUse = 'unique' | 'index' | 'moment'

function indexName(use: IndexUse, field: string): string {
  return `$${use}_${field}`
}

function fieldIndex(use: IndexUse, field: string, indexed: string): FieldIndex {
  const name = indexName(use, field)
  const since = use === 'unique' ? 1 : 4
  return { name, field, since, sql: `CREATE INDEX ${quoted(name)} ON "$data" (${indexed})` }
}

/** Returns the name of the index that finds records by a value of a field as it is stored; undefined for none. */
export function valueIndex({ name, primaryKey, unique, indexed, type }: Field): string | undefined {
  if (primaryKey || type === 'timestamp' || !(unique || indexed)) return undefined
  return indexName(unique ? 'unique' : 'index', name)
}

/** Whether there is an index in the order in which records are sorted by a field. */
export function hasSortIndex({ primaryKey, unique, indexed, type }: Field): boolean {
  return type === 'timestamp' ? indexed : primaryKey || unique || indexed
}

/** Returns SQL for the time of a timestamp's column, in seconds to the millisecond: texts may have different offsets. */
export function momentOf(column: string): string {
  return `unixepoch(${column}, 'subsec')`
}

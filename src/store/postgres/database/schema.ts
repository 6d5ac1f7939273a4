import type { Contract, Field, LogicalType } from '../../../contract/contract.ts'
import { ContractError, fileError } from '../../../errors/service-error.ts'
import type { ColumnMove } from '../../fields/column-moves.ts'
import type { KeptColumn } from '../../fields/stored-changes.ts'
import { definitionTables } from '../../rows/definition-tables.ts'
import { FAILURE_GROUP_INDEXES, failureGroupColumns, groupStoredFailures } from '../../rows/failure-groups.ts'
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
import { columnsOf, mayDiffer, NAME_BYTES, writtenColumn, type TypedField } from './columns.ts'

/** Version of the tables below; a store of a later version is refused. */
export const SCHEMA_VERSION = 36

/**
 * The tables beside the records. Every name contains `$`, which no field name can (D5). Times are texts, UTC with
 * milliseconds and `Z`, as they are everywhere else; texts are compared byte by byte.
 *
 * - `$sheet`: one row of facts about the store. Every write locks this row first, so that writes of all processes are
 *   serialized. `last_seq`, `last_record`, `last_run`, `last_proposal`: the last number that was assigned.
 *   `definition` increases when the contract or the derived fields change, `run_token` whenever the run lock is taken.
 *   `history_after`: the last seq of an imported log.
 * - `$target`: the derived fields, active or once active, with the counters that status reads (D32).
 * - `$cell`: computed cells with the hash of their last success, and overridden ones, whose hash is null.
 * - `$todo`: pending cells, which are missing, stale or failed. A cell in neither table belongs to no record.
 * - `$provenance`: the log; `line` is exactly the line of a `provenance.jsonl`. `earlier_id` is the record's id in an imported log,
 *   `run` the run that wrote the line.
 * - `$deleted`: former keys of ids. A key is never reused, so each identifies one life of a record.
 * - `$import`: the records of an import line, or of a line with imported records.
 * - `$run`: a row for each run. `waits_until` is set until it has the run lock, `active_at` is the time when it last
 *   stored something, `request` is JSON of its request without `record_ids`, which can be long.
 * - `$run_failure`: cells that failed in a run, numbered in order.
 * - `$derivation`: every version of a derivation file, numbered in order.
 * - `$proposal`: a row for each. `bytes`: the size of its records.
 * - `$proposal_record`: the change of each record. `record` and `version` are the record's key and version when it was
 *   proposed, null where it did not exist; `was` is JSON of the values of its fields at that time, `change` of the proposed
 *   values, null for a deletion.
 *
 * `mark` is the `seq` of the provenance entry that last wrote the cell (`$cell`) or its inputs (`$todo`).
 */
const FIRST_TABLES = `
  CREATE TABLE "$sheet" (
    one integer PRIMARY KEY CHECK (one = 1),
    schema_version integer NOT NULL,
    contract text NOT NULL,
    cursor_key bytea NOT NULL,
    definition bigint NOT NULL DEFAULT 0,
    records bigint NOT NULL DEFAULT 0,
    last_record bigint NOT NULL DEFAULT 0,
    last_seq bigint NOT NULL DEFAULT 0,
    last_run bigint NOT NULL DEFAULT 0,
    last_proposal bigint NOT NULL DEFAULT 0,
    proposal_changes bigint NOT NULL DEFAULT 0,
    run_token bigint NOT NULL DEFAULT 0,
    history_after bigint NOT NULL DEFAULT 0,
    source_size bigint, source_mtime bigint, source_sha256 text
  ) WITH (fillfactor = 10);
  CREATE TABLE "$target" (
    id integer PRIMARY KEY,
    field text COLLATE "C" NOT NULL UNIQUE,
    derivation text NOT NULL,
    sha256 text NOT NULL,
    kind text NOT NULL,
    inputs jsonb NOT NULL,
    active boolean NOT NULL,
    missing bigint NOT NULL DEFAULT 0,
    stale bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    overridden bigint NOT NULL DEFAULT 0,
    last_at text, last_actor text, last_error text
  ) WITH (fillfactor = 50);
  CREATE TABLE "$cell" (
    target integer NOT NULL, record bigint NOT NULL, hash bytea, mark bigint NOT NULL,
    PRIMARY KEY (target, record)
  );
  CREATE TABLE "$todo" (
    target integer NOT NULL, record bigint NOT NULL, state smallint NOT NULL, mark bigint NOT NULL,
    PRIMARY KEY (target, record)
  );
  CREATE TABLE "$failure" (
    target integer NOT NULL, record bigint NOT NULL,
    error text NOT NULL, error_type text NOT NULL, at text COLLATE "C" NOT NULL,
    PRIMARY KEY (target, record)
  );
  CREATE TABLE "$cache" (hash bytea PRIMARY KEY, entry text NOT NULL);
  CREATE TABLE "$provenance" (
    seq bigint PRIMARY KEY, record bigint, earlier_id text COLLATE "C", run bigint, line text NOT NULL
  );
  CREATE INDEX "$provenance_of_record" ON "$provenance" (record, seq) WHERE record IS NOT NULL;
  CREATE INDEX "$provenance_of_earlier" ON "$provenance" USING hash (earlier_id) WHERE earlier_id IS NOT NULL;
  CREATE INDEX "$provenance_of_run" ON "$provenance" (run, seq) WHERE run IS NOT NULL;
  CREATE TABLE "$deleted" (
    record_id text COLLATE "C" NOT NULL, record bigint NOT NULL, PRIMARY KEY (record_id, record)
  );
  CREATE INDEX "$deleted_record" ON "$deleted" (record);
  CREATE TABLE "$import" (seq bigint PRIMARY KEY, first bigint NOT NULL, last bigint NOT NULL);
  CREATE TABLE "$run" (
    id bigint PRIMARY KEY,
    kind text NOT NULL, reverts bigint, state text NOT NULL, actor text NOT NULL, request text NOT NULL, record_ids text,
    started_at text COLLATE "C" NOT NULL, waits_until text COLLATE "C", active_at text COLLATE "C" NOT NULL,
    ended_at text COLLATE "C",
    total bigint NOT NULL DEFAULT 0, materialized bigint NOT NULL DEFAULT 0,
    skipped bigint NOT NULL DEFAULT 0, failed bigint NOT NULL DEFAULT 0,
    calls bigint NOT NULL DEFAULT 0, total_cost double precision NOT NULL DEFAULT 0,
    error text, error_type text, cancelled_by text
  );
  CREATE INDEX "$run_running" ON "$run" (id) WHERE state = 'running';
  CREATE TABLE "$run_failure" (
    run bigint NOT NULL, number bigint NOT NULL, record_id text NOT NULL, field text NOT NULL,
    error text NOT NULL, error_type text NOT NULL, at text COLLATE "C" NOT NULL,
    PRIMARY KEY (run, number)
  );
  CREATE TABLE "$derivation" (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    file text NOT NULL, sha256 text NOT NULL, text text NOT NULL, at text COLLATE "C" NOT NULL,
    UNIQUE (file, sha256)
  );
  CREATE TABLE "$proposal" (
    id bigint PRIMARY KEY,
    kind text NOT NULL, state text NOT NULL, actor text NOT NULL, note text, at text COLLATE "C" NOT NULL,
    records bigint NOT NULL, bytes bigint NOT NULL,
    decided_by text, decided_at text COLLATE "C", reason text
  );
  CREATE INDEX "$proposal_state" ON "$proposal" (state, id);
  CREATE TABLE "$proposal_record" (
    proposal bigint NOT NULL, number bigint NOT NULL, record_id text COLLATE "C" NOT NULL,
    record bigint, version bigint, was text NOT NULL, change text,
    PRIMARY KEY (proposal, number)
  );
`

/**
 * - `$frame`: events for the subscribers of all servers, numbered in the order of commits without a gap; the oldest are
 *   deleted. `stream` selects the subscribers, `frame` is JSON, `bytes` its length. `source` is the process that published it,
 *   `number` ascends for each source, so that a process can find out whether a frame was stored.
 * - `$feed`: one row, with the last number that was assigned. A publisher locks this row until its commit, so that
 *   a reader of a frame sees all before it. It is separate from `$sheet`, which a long write keeps locked.
 */
const FRAME_TABLES = `
  CREATE TABLE "$feed" (
    one integer PRIMARY KEY CHECK (one = 1), last bigint NOT NULL
  ) WITH (fillfactor = 10);
  INSERT INTO "$feed" VALUES (1, 0);
  CREATE TABLE "$frame" (
    id bigint PRIMARY KEY,
    stream text COLLATE "C" NOT NULL, frame text NOT NULL, bytes bigint NOT NULL,
    source text COLLATE "C" NOT NULL, number bigint NOT NULL, at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (source, number)
  );
`

/**
 * - `$revision`: the pushed definitions of the sheet; that of the highest number is in force. A store that is opened with
 *   the definition of a directory has none.
 * - `$revision_file`: the files of each, unchanged.
 */
const REVISION_TABLES = `
  CREATE TABLE "$revision" (
    number bigint PRIMARY KEY,
    at text COLLATE "C" NOT NULL, actor text NOT NULL, note text, sha256 text NOT NULL
  );
  CREATE TABLE "$revision_file" (
    revision bigint NOT NULL REFERENCES "$revision", path text COLLATE "C" NOT NULL, bytes bytea NOT NULL,
    PRIMARY KEY (revision, path)
  );
`

/**
 * - `$run`: of a run with tasks, `beat_at` is the last heartbeat of its coordinator, `last_key` its newest record,
 *   `scope` JSON of its records, where they are not all, `levels` the number of levels that were divided into tasks.
 *   `stopping`: its tasks are no longer computed. `begun_calls` and `begun_cost` count towards its bounds, where it has any.
 * - `$worker`: processes that compute; `seen_at` is the time of the last heartbeat. A local one computes its own runs.
 * - `$task`: the tasks of runs under way, each with its job in the queue (pg-boss has its own tables here), the worker that
 *   holds it, and the number of workers lost with it. The job has the records to compute.
 * - `$call`: calls of runs under way, by input hash, with the job and the attempt that make or have made each.
 */
const TASK_TABLES = `
  ALTER TABLE "$run"
    ADD COLUMN beat_at timestamptz, ADD COLUMN last_key bigint, ADD COLUMN scope text,
    ADD COLUMN levels integer NOT NULL DEFAULT 0, ADD COLUMN stopping boolean NOT NULL DEFAULT false,
    ADD COLUMN begun_calls bigint NOT NULL DEFAULT 0, ADD COLUMN begun_cost double precision NOT NULL DEFAULT 0;
  CREATE INDEX "$run_failure_record" ON "$run_failure" (run, record_id);
  CREATE TABLE "$worker" (
    id uuid PRIMARY KEY, name text NOT NULL, local boolean NOT NULL, seen_at timestamptz NOT NULL
  ) WITH (fillfactor = 10);
  CREATE TABLE "$task" (
    job uuid PRIMARY KEY, run bigint NOT NULL,
    worker uuid, attempt integer, lost integer NOT NULL DEFAULT 0,
    settled boolean NOT NULL DEFAULT false, error text, error_type text
  ) WITH (fillfactor = 70);
  CREATE INDEX "$task_open" ON "$task" (run, worker) WHERE NOT settled;
  CREATE INDEX "$task_error" ON "$task" (run) WHERE error IS NOT NULL;
  CREATE TABLE "$call" (
    run bigint NOT NULL, hash bytea NOT NULL, job uuid NOT NULL, attempt integer NOT NULL,
    settled boolean NOT NULL DEFAULT false, failed text,
    PRIMARY KEY (run, hash)
  ) WITH (fillfactor = 70);
`

/**
 * The state of called hosts that the processes share. Times are milliseconds since 1970.
 *
 * - `$host`: a row for each origin. `last_slot`: the last time slot that was reserved for a request, often in the future. `pause_…`:
 *   the pause that the host has asked for; `pause_number` ascends with each change of it. `beat` increases about once a second,
 *   as long as a process renews its share: time in which the database was unavailable is not counted.
 * - `$host_part`: the number of concurrent calls that each process may make, and that it wants to; `since` is the time when the
 *   former changed, `beat` and `renewed_at` are those of the last renewal.
 */
const HOST_TABLES = `
  CREATE TABLE "$host" (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    origin text COLLATE "C" NOT NULL UNIQUE,
    last_slot double precision NOT NULL DEFAULT 0,
    beat bigint NOT NULL DEFAULT 0, beat_at double precision NOT NULL DEFAULT 0,
    pause_number bigint NOT NULL DEFAULT 0, pause_until double precision NOT NULL DEFAULT 0,
    pause_ms double precision NOT NULL DEFAULT 0, pause_status integer NOT NULL DEFAULT 0
  ) WITH (fillfactor = 10);
  CREATE TABLE "$host_part" (
    host integer NOT NULL REFERENCES "$host", holder text COLLATE "C" NOT NULL,
    places integer NOT NULL, wanted integer NOT NULL, since double precision NOT NULL,
    beat bigint NOT NULL, renewed_at double precision NOT NULL,
    PRIMARY KEY (host, holder)
  ) WITH (fillfactor = 10);
`

/** `response_body` of failures: the beginning of the response of a failed call. */
const ERROR_BODIES = `
  ALTER TABLE "$failure" ADD COLUMN response_body text;
  ALTER TABLE "$run_failure" ADD COLUMN response_body text;
`

/**
 * - `$response`: a row for each kept response, by the key of its request. `at` is the time of its receipt, `used` that of its last receipt
 *   or use, in milliseconds since 1970; `bytes` is its size as counted towards the limit.
 * - `$sheet.response_bytes`: an upper bound of the kept bytes; exact after every removal. `response_limit`: null is the default.
 */
const RESPONSE_TABLES = `
  ALTER TABLE "$sheet" ADD COLUMN response_bytes bigint NOT NULL DEFAULT 0, ADD COLUMN response_limit bigint;
  CREATE TABLE "$response" (
    hash bytea PRIMARY KEY, at bigint NOT NULL, used bigint NOT NULL, bytes bigint NOT NULL,
    status integer NOT NULL, duration_ms integer NOT NULL, body text NOT NULL
  );
  CREATE INDEX "$response_used" ON "$response" (used, hash);
`

/** Calls without a known price, and cells that the bounds of a run left pending. */
const RUN_COUNTS = `
  ALTER TABLE "$run"
    ADD COLUMN unpriced_calls bigint NOT NULL DEFAULT 0, ADD COLUMN left_cells bigint NOT NULL DEFAULT 0;
`

/**
 * - `$target.required`: the inputs without whose value no request is made; null until the derivations are applied to a
 *   store of an earlier version. `$target.blocked` counts blocked cells.
 * - `$todo.blocked`: whether the cell is blocked because of an input.
 */
const BLOCKED_CELLS = `
  ALTER TABLE "$target" ADD COLUMN required jsonb, ADD COLUMN blocked bigint NOT NULL DEFAULT 0;
  ALTER TABLE "$todo" ADD COLUMN blocked boolean NOT NULL DEFAULT false;
`

/**
 * - `$failure.hash`: the input hash of a failure that is expected to last; null for any other.
 * - `$target.non_empty`: the required inputs whose empty text counts as no value; null where `required` is.
 */
const LASTING_FAILURES = `
  ALTER TABLE "$failure" ADD COLUMN hash bytea;
  ALTER TABLE "$target" ADD COLUMN non_empty jsonb;
`

/**
 * - `$run_body`: the beginnings of responses of a run's failures, each once; `$run_failure.body` is its key, and in rows of
 *   earlier versions `response_body` has it. `$run_failure.field` can be several, see `run-failures.ts`.
 * - The request of a run has each target once.
 */
const SMALLER_RUNS = `
  CREATE TABLE "$run_body" (run bigint NOT NULL, hash bytea NOT NULL, body text NOT NULL, PRIMARY KEY (run, hash));
  ALTER TABLE "$run_failure" ADD COLUMN body bytea;
  UPDATE "$run" SET request = jsonb_set(request::jsonb, '{targets}', (
    SELECT jsonb_agg(value ORDER BY place) FROM (
      SELECT value, min(place) AS place
      FROM jsonb_array_elements(request::jsonb -> 'targets') WITH ORDINALITY AS item(value, place) GROUP BY value
    ) AS once
  ))::text WHERE length(request) > 65536 AND jsonb_typeof(request::jsonb -> 'targets') = 'array';
`

/** `$streak`: consecutive failures of runs under way, by host, of all processes that compute them. */
const STREAK_TABLE = `
  CREATE TABLE "$streak" (
    run bigint NOT NULL, host text COLLATE "C" NOT NULL, failures integer NOT NULL, PRIMARY KEY (run, host)
  ) WITH (fillfactor = 50);
`

/**
 * `manual_left` and `manual_overwritten`: of the cells that were overridden when the run began, those that still are, and
 * those that the run computed. `last_seq`: the seq of the last provenance entry at that time.
 */
const MANUAL_COUNTS = `
  ALTER TABLE "$run"
    ADD COLUMN manual_left bigint NOT NULL DEFAULT 0, ADD COLUMN manual_overwritten bigint NOT NULL DEFAULT 0,
    ADD COLUMN last_seq bigint NOT NULL DEFAULT 0;
`

/**
 * The code of the error that ended a run or a task, and the reason of a failure, now in snake_case; null in rows of earlier
 * versions.
 */
const ERROR_CODES = `
  ALTER TABLE "$run" ADD COLUMN error_code text;
  ALTER TABLE "$task" ADD COLUMN error_code text;
  ALTER TABLE "$failure" ADD COLUMN reason text;
  ALTER TABLE "$run_failure" ADD COLUMN reason text;
  UPDATE "$call" SET failed = replace(replace(replace(replace(replace(failed, 'malformed-json', 'malformed_json'),
    'missing-path', 'missing_path'), 'unusable-input', 'unusable_input'), 'no-stub-response', 'no_stub_response'), 'no-record', 'no_record')
    WHERE failed IS NOT NULL;
`

/**
 * - `$target.sources`: the version of the files that results depend on beside the inputs; null for none.
 * - `$target.checked_sources`: the version for which the states of cells were last checked.
 */
const SOURCE_VERSIONS = `
  ALTER TABLE "$target" ADD COLUMN sources text, ADD COLUMN checked_sources text;
`

/** `$run_failure.detail`: the error without its request; null in rows of earlier versions. */
const FAILURE_DETAILS = `
  ALTER TABLE "$run_failure" ADD COLUMN detail text;
`

/**
 * `$target.reads`: the fields that the query of a derivation reads in all records; null without one. `sources` is then the version of these
 * fields: the seq of the last entry that changed one, or the set of records.
 */
const READ_FIELDS = `
  ALTER TABLE "$target" ADD COLUMN reads jsonb;
`

/** `$usage`: what the computations of a key have used, as JSON. */
const USAGE_TABLE = `
  CREATE TABLE "$usage" (key text COLLATE "C" PRIMARY KEY, usage text NOT NULL) WITH (fillfactor = 50);
`

/**
 * - `$field_change`: the changes of fields in the log, as JSON, with the columns of `$data` that keep earlier values
 *   (`kept-columns.ts`).
 * - `$target.changed`: the seq of the last of them that concerned it or its inputs; 0 for none.
 */
const FIELD_CHANGES = `
  CREATE TABLE "$field_change" (seq bigint PRIMARY KEY, change text NOT NULL);
  ALTER TABLE "$target" ADD COLUMN changed bigint NOT NULL DEFAULT 0;
`

/**
 * The values that columns of records do not preserve exactly, which one column `$written` had, an object by the names of columns: each such
 * column has another one beside it ({@link writtenColumn}). In a new store there are no records yet.
 */
const WRITTEN_COLUMNS = `
  DO $migration$
  DECLARE
    kept record;
    added text[] := '{}';
    filled text[] := '{}';
  BEGIN
    FOR kept IN
      SELECT attname::text AS name,
        '$written_' || CASE WHEN octet_length('$written_' || attname) <= ${NAME_BYTES} THEN attname::text
          ELSE left(encode(sha256(convert_to(attname::text, 'UTF8')), 'hex'), 40) END AS written
      FROM pg_attribute WHERE attrelid = to_regclass('"$data"') AND attnum > 0 AND NOT attisdropped
        AND atttypid IN ('timestamptz'::regtype, 'date'::regtype, 'jsonb'::regtype)
      ORDER BY attnum
    LOOP
      added := added || format('ADD COLUMN %I json', kept.written);
      filled := filled || format('%I = "$written" -> %L', kept.written, kept.name);
    END LOOP;
    IF added = '{}' THEN RETURN; END IF;
    EXECUTE 'ALTER TABLE "$data" ' || array_to_string(added, ', ');
    EXECUTE 'UPDATE "$data" SET ' || array_to_string(filled, ', ') || ' WHERE "$written" IS NOT NULL';
  END
  $migration$;
  ALTER TABLE IF EXISTS "$data" DROP COLUMN "$written";
`

/** Returns SQL for `failureGroup` of a row of failures. */
function failureGroupOf(detail: string): string {
  const host = `substring(error from '^(?:[A-Z]+ )?[a-z]+://[^/?#[:space:]]*')`
  const common = `CASE WHEN ${detail}::text IS NULL THEN error ELSE coalesce(${host} || '/… -> ', '') || ${detail} END`
  const text = `convert_to(error_type || E'\n' || ${common}, 'UTF8')`
  return `('x' || left(encode(sha256(${text}), 'hex'), 13))::bit(52)::bigint`
}

/** The SQL that each version after the first adds, by its number. */
export const MIGRATIONS: Readonly<Record<number, string>> = {
  2: FRAME_TABLES,
  3: REVISION_TABLES,
  4: HOST_TABLES,
  5: TASK_TABLES,
  // `$deleted_block`: the number of keys of each block in `$deleted`; see `deleted-blocks.ts`.
  6: deletedBlocksTable('bigint', 'WITH (fillfactor = 50)'),
  7: ERROR_BODIES,
  8: RESPONSE_TABLES,
  9: RUN_COUNTS,
  10: BLOCKED_CELLS,
  11: LASTING_FAILURES,
  12: SMALLER_RUNS,
  13: STREAK_TABLE,
  14: MANUAL_COUNTS,
  15: ERROR_CODES,
  16: SOURCE_VERSIONS,
  17: FAILURE_DETAILS,
  18: READ_FIELDS,
  19: USAGE_TABLE,
  20: FIELD_CHANGES,
  21: definitionTables({ integer: 'bigint', text: 'text', bytes: 'bytea', options: '' }),
  // The seq of the last change of fields when it was made, whose names and types its values have.
  22: 'ALTER TABLE "$proposal" ADD COLUMN fields_seq bigint NOT NULL DEFAULT 0;',
  // A proposed change of the definition, as JSON; and the accepted proposal of a change.
  23: 'ALTER TABLE "$proposal" ADD COLUMN definition text; ALTER TABLE "$definition_change" ADD COLUMN proposal bigint;',
  24: WRITTEN_COLUMNS,
  25: STATE_INDEXES,
  26: reviewTable({ integer: 'bigint', text: 'text', flag: 'boolean', options: '' }),
  27: namedTable('$view', { integer: 'bigint', text: 'text', options: '' }),
  28: PROPOSAL_PARTS,
  29: deletionSeqs('bigint'),
  30: blockedCounters('bigint'),
  31:
    writtenTables({ integer: 'bigint', text: 'text COLLATE "C"', options: '' }) +
    writersOfCells((number) => `(1::bigint << (${number})::integer)`),
  32: namedTable('$chart', { integer: 'bigint', text: 'text', options: '' }),
  33:
    failureGroupColumns({ integer: 'bigint', text: 'text' }) +
    groupStoredFailures(failureGroupOf) +
    FAILURE_GROUP_INDEXES,
  34: recordingTable({ integer: 'bigint', text: 'text', options: '' }),
  35: logTreeTables({ integer: 'bigint', text: 'text', bytes: 'bytea', flag: 'boolean', options: '' }),
  // A line of the log can have several records.
  36: '',
}

/** Creates the tables of a new store, except that of records. */
export const INTERNAL_TABLES = [FIRST_TABLES, ...Object.values(MIGRATIONS)].join('\n')

/** The type of a field's column in `CREATE TABLE`. */
export const COLUMN_TYPES = {
  string: 'text COLLATE "C"',
  date: 'date',
  timestamp: 'timestamptz',
  time: 'text COLLATE "C"',
  integer: 'bigint',
  number: 'numeric',
  boolean: 'boolean',
  array: 'jsonb',
  object: 'jsonb',
} as const satisfies Record<LogicalType, string>

/** Returns the type of a field's column in casts and lists of columns. */
export function columnType({ type }: Pick<Field, 'type'>): string {
  return COLUMN_TYPES[type].replace(' COLLATE "C"', '')
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Returns the terms by which values of a field are equal where their JSON text is, for GROUP BY and PARTITION BY. */
export function exactly({ name, type }: TypedField): string {
  return mayDiffer(type) ? `${quoted(name)}, ${quoted(writtenColumn(name))}::text` : quoted(name)
}

/** The most columns of a table, without those that every table of records has. */
const MOST_COLUMNS = 1600 - 2

/** Names of columns that each table has. */
const SYSTEM_COLUMNS = new Set(['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid'])

/** Throws ContractError where PostgreSQL cannot have a column for a field. */
export function checkColumns({ fields }: Contract): void {
  const count = columnsOf(fields).length
  if (count > MOST_COLUMNS) {
    const message =
      `has ${fields.length} properties, which take ${count} columns in PostgreSQL (one of type timestamp, date, array or object takes ` +
      `two), and a sheet there has at most ${MOST_COLUMNS}; remove some`
    throw new ContractError(
      ...fileError({ file: 'contract.yaml', line: null, message }, 'definition_too_large'),
    )
  }
  const refused = fields.flatMap(({ name }) => {
    if (Buffer.byteLength(name) > NAME_BYTES)
      return [
        `property "${name}" has a name of ${Buffer.byteLength(name)} bytes, and PostgreSQL takes ${NAME_BYTES}`,
      ]
    return SYSTEM_COLUMNS.has(name) ? [`property "${name}" has a name that PostgreSQL keeps for itself`] : []
  })
  if (refused.length === 0) return
  const message = `has names that PostgreSQL cannot store: ${refused.join('; ')}; choose another name`
  throw new ContractError(...fileError({ file: 'contract.yaml', line: null, message }, 'invalid_definition'))
}

/** Returns the columns of a field. Constraints are the contract's, checked before writing. */
export function columnDefinitions({ name, type }: TypedField): string[] {
  const own = `${quoted(name)} ${COLUMN_TYPES[type]}`
  return mayDiffer(type) ? [own, `${quoted(writtenColumn(name))} json`] : [own]
}

/** Returns the statements that rename the columns of a field. */
export function renameColumns({ from, to, type }: ColumnMove): string[] {
  const names = [[from, to], ...(mayDiffer(type) ? [[writtenColumn(from), writtenColumn(to)]] : [])]
  return names.map(
    ([before = '', after = '']) => `ALTER TABLE "$data" RENAME COLUMN ${quoted(before)} TO ${quoted(after)}`,
  )
}

/**
 * Creates the table of records: a row a record, in creation order; {@link ID_INDEX} belongs to it. `$version` is the seq of
 * its last change. `kept` are the columns that keep earlier values.
 */
export function dataTable(contract: Contract, kept: readonly KeptColumn[] = []): string {
  const columns = [...contract.fields, ...kept].flatMap(columnDefinitions)
  return `CREATE TABLE "$data" (
    "$seq" bigint PRIMARY KEY, "$version" bigint NOT NULL, ${columns.join(', ')}
  ) WITH (fillfactor = 90)`
}

/** Makes ids unique, and finds records by them. */
export const ID_INDEX = 'CREATE UNIQUE INDEX "$id" ON "$data" (id); ALTER TABLE "$data" ALTER id SET NOT NULL'

/** Creates the view that SQL from users sees: exactly the contract's fields in its order. */
export function recordsView(contract: Contract): string {
  return `CREATE VIEW records AS SELECT ${contract.fields.map((field) => quoted(field.name)).join(', ')} FROM "$data"`
}

/** Returns the column definitions of `json_to_recordset` for records with these fields. */
export function recordset(fields: readonly TypedField[]): string {
  return ['"$seq" bigint', '"$version" bigint', ...fields.flatMap(columnDefinitions)].join(', ')
}

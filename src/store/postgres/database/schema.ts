import type { Contract, Field, LogicalType } from '../../../contract/contract.ts'
import { ContractError } from '../../../errors/service-error.ts'
import { deletedBlocksTable } from '../../rows/deleted-blocks.ts'

/** Version of the tables below; a store of a later version is refused. */
export const SCHEMA_VERSION = 14

/**
 * The tables beside the records. Every name contains `$`, which no field name can (D5). Times are texts, UTC with
 * milliseconds and `Z`, as they are everywhere else; texts are compared byte by byte.
 *
 * - `$sheet`: one row of facts about the store. Whoever writes takes this row first, so that writes of all processes come
 *   one after the other. `last_seq`, `last_record`, `last_run`, `last_proposal`: the last number given out.
 *   `definition` counts up when the contract or the derived fields change, `run_token` whenever the run lock is taken.
 *   `history_after`: the last seq of a log that was there before the store.
 * - `$target`: the derived fields, active or once active, with the counters that status reads (D32).
 * - `$cell`: computed cells with the hash of their last success, and overridden ones, whose hash is null.
 * - `$todo`: the sparse list of cells that are missing, stale or failed; what is in neither table does not exist.
 * - `$provenance`: the log; `line` is exactly the line of a `provenance.jsonl`. `earlier_id` is the record's id in a log
 *   that was there before the store, `run` the run that wrote the line.
 * - `$deleted`: keys that ids once had. A key is never used again, so each stands for one life of a record.
 * - `$import`: which records an import line covers.
 * - `$run`: a row for each run. `waits_until` is set as long as it has not had the run lock, `active_at` is when it last
 *   stored something, `request` is JSON of what it was asked to do, but for `record_ids`, which can be long.
 * - `$run_failure`: cells that failed in a run, numbered as they happened.
 * - `$derivation`: every version of a derivation file that was ever in force, numbered as they came.
 * - `$proposal`: a row for each. `bytes`: how much its records take.
 * - `$proposal_record`: what each does to each record. `record` and `version` are the record's key and version when it was
 *   proposed, null where it did not exist; `was` is JSON of the values that the touched fields had then, `change` of those
 *   that are proposed, null for a deletion.
 *
 * `mark` is the `seq` of the provenance entry that last wrote the cell (`$cell`) or touched its inputs (`$todo`).
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
 * - `$frame`: what subscribers of all servers are told, numbered as it was committed, without a gap; the oldest go after a
 *   while. `stream` is whom it is for, `frame` its JSON, `bytes` how long that is. `source` is the process that told it,
 *   `number` counts up for each source: a process that does not know whether a frame was stored finds out by them.
 * - `$feed`: one row, with the last number given out. Whoever tells something takes this row until its commit, so that
 *   nobody can see a frame and not those before it. It is apart from `$sheet`, which a long write holds for as long.
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
 * - `$revision`: the definitions that the sheet has had, as they were pushed; the one of the highest number is in force. A
 *   store that is opened with the definition of a directory has none.
 * - `$revision_file`: the files of each, exactly as they were.
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
 * - `$run`: of a run that is cut into tasks, `beat_at` is when whoever has the run lock last said so, `last_key` the newest
 *   record that it is about, `scope` JSON of the records that it goes through, where they are not all, `levels` how many
 *   levels have been cut. `stopping`: nothing of it is computed any more. `begun_calls` and `begun_cost` count towards its
 *   bounds, where it has any.
 * - `$worker`: processes that compute; `seen_at` is when one was last heard of. A local one is there for its own runs.
 * - `$task`: the tasks of runs under way, each with its job in the queue (pg-boss has tables of its own here), the worker that
 *   has it, and how many were lost with it. What there is to do is in the job.
 * - `$call`: calls of runs under way, by input hash, and which attempt at which job makes each, or has made it.
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
 * What processes that share the sheet tell one another of the hosts that they call. Times are milliseconds since 1970.
 *
 * - `$host`: a row for each origin. `last_slot`: the last moment that was given out for a request, often one to come. `pause_…`:
 *   how long the host wants to be left alone; `pause_number` counts what it has said. `beat` counts up about once a second,
 *   as long as somebody renews their part: time in which the database was away is not counted.
 * - `$host_part`: how many calls at a time each process may make, and how many it would; `since` is when the former changed,
 *   `beat` and `renewed_at` when the process was last heard of.
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
 * - `$response`: a row for each kept response, by the key of its request. `at` is when it was received, `used` when it was last received or
 *   used, in milliseconds since 1970; `bytes` is what it counts towards the limit.
 * - `$sheet.response_bytes`: at most so many bytes are kept; exact after every removal. `response_limit`: null is the default.
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
 * - `$target.required`: those of the inputs without whose value no request is made; null until the derivations are applied to a
 *   store of an earlier version. `$target.blocked` counts blocked cells.
 * - `$todo.blocked`: whether the cell is blocked because of an input.
 */
const BLOCKED_CELLS = `
  ALTER TABLE "$target" ADD COLUMN required jsonb, ADD COLUMN blocked bigint NOT NULL DEFAULT 0;
  ALTER TABLE "$todo" ADD COLUMN blocked boolean NOT NULL DEFAULT false;
`

/**
 * - `$failure.hash`: the input hash of a failure that is expected to last; null for any other.
 * - `$target.non_empty`: those of the required inputs whose empty text counts as no value; null as `required` is.
 */
const LASTING_FAILURES = `
  ALTER TABLE "$failure" ADD COLUMN hash bytea;
  ALTER TABLE "$target" ADD COLUMN non_empty jsonb;
`

/**
 * - `$run_body`: what responses of failures of a run begin with, each once; `$run_failure.body` is its key, and `response_body` has it in
 *   rows of earlier versions. `$run_failure.field` can be several, see `run-failures.ts`.
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

/** `$streak`: failures in a row of runs under way, by host, over all processes that compute them. */
const STREAK_TABLE = `
  CREATE TABLE "$streak" (
    run bigint NOT NULL, host text COLLATE "C" NOT NULL, failures integer NOT NULL, PRIMARY KEY (run, host)
  ) WITH (fillfactor = 50);
`

/**
 * `manual_left` and `manual_overwritten`: of the cells that had a value written by hand when the run began, those that still have it,
 * and those that the run computed. `last_seq`: the seq of the last provenance entry then.
 */
const MANUAL_COUNTS = `
  ALTER TABLE "$run"
    ADD COLUMN manual_left bigint NOT NULL DEFAULT 0, ADD COLUMN manual_overwritten bigint NOT NULL DEFAULT 0,
    ADD COLUMN last_seq bigint NOT NULL DEFAULT 0;
`

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

/** Quotes an identifier. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** The most bytes of a name in PostgreSQL, which truncates longer ones, so that two may become equal. */
export const NAME_BYTES = 63

/** The most columns of a table, without those that every table of records has. */
const MOST_COLUMNS = 1600 - 3

/** Names of columns that each table has. */
const SYSTEM_COLUMNS = new Set(['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid'])

/** Throws ContractError where PostgreSQL cannot have a column for a field. */
export function checkColumns({ fields }: Contract): void {
  if (fields.length > MOST_COLUMNS) {
    throw new ContractError(
      `contract.yaml has ${fields.length} properties, and a sheet in PostgreSQL has at most ${MOST_COLUMNS}; take some away`,
      'definition_too_large',
    )
  }
  const faults = fields.flatMap(({ name }) => {
    if (Buffer.byteLength(name) > NAME_BYTES)
      return [
        `property "${name}" has a name of ${Buffer.byteLength(name)} bytes, and PostgreSQL takes ${NAME_BYTES}`,
      ]
    return SYSTEM_COLUMNS.has(name) ? [`property "${name}" has a name that PostgreSQL keeps for itself`] : []
  })
  if (faults.length > 0) throw new ContractError(`contract.yaml: ${faults.join('; ')}; choose another name`)
}

/** Returns the column of a field. Constraints are the contract's, checked before writing. */
export function columnDefinition(field: Field): string {
  return `${quoted(field.name)} ${COLUMN_TYPES[field.type]}`
}

/**
 * Creates the table of records: a row a record, in creation order; {@link idIndex} belongs to it. `$version` is the seq of
 * its last change; `$written` has the values that their columns do not preserve exactly, by field, as JSON.
 */
export function dataTable(contract: Contract): string {
  const columns = contract.fields.map(columnDefinition)
  return `CREATE TABLE "$data" (
    "$seq" bigint PRIMARY KEY, "$version" bigint NOT NULL, "$written" json, ${columns.join(', ')}
  ) WITH (fillfactor = 90)`
}

/** Makes ids unique, and finds records by them. */
export const ID_INDEX = 'CREATE UNIQUE INDEX "$id" ON "$data" (id); ALTER TABLE "$data" ALTER id SET NOT NULL'

/** Creates the view that SQL from users sees: exactly the contract's fields in its order. */
export function recordsView(contract: Contract): string {
  return `CREATE VIEW records AS SELECT ${contract.fields.map((field) => quoted(field.name)).join(', ')} FROM "$data"`
}

/** Returns the column definitions of `json_to_recordset` for records with these fields. */
export function recordset(fields: readonly Field[]): string {
  const columns = fields.map((field) => `${quoted(field.name)} ${columnType(field)}`)
  return ['"$seq" bigint', '"$version" bigint', '"$written" text', ...columns].join(', ')
}

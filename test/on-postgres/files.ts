/**
 * The files of tests that run on both engines, as the groups that share a PostgreSQL; paths are from `test/`. Rules are above the
 * engines, each of which passes the suite of stores (`src/store/suite`): a file is here for what only PostgreSQL shows, such as its SQL,
 * locks, notifications, and runs whose tasks are in the store, or for what the suite does not call. Tests of such a file about other
 * rules are `aboveEngines()`.
 */
export const GROUPS = {
  operations: [
    'http/answers.test.ts',
    'http/changes.test.ts',
    'http/conditional-reads.test.ts',
    'http/conditions.test.ts',
    'http/events.test.ts',
    'http/hung-up.test.ts',
    'http/query.test.ts',
    'http/sorted-pages.test.ts',
    'http/views.test.ts',
    'kill/upsert-kill.test.ts',
    'mcp/tools.test.ts',
    'sheet/as-of.test.ts',
    'sheet/checkpoints.test.ts',
    'sheet/change-definition.test.ts',
    'sheet/erase.test.ts',
    'sheet/import-runs.test.ts',
    'sheet/lineage.test.ts',
    'sheet/revert.test.ts',
    'sheet/reviews.test.ts',
    'sheet/verify.test.ts',
    'sheet/watch-sheet.test.ts',
  ],
  // Apart, so that long tests can run it alone.
  sequences: ['sheet/changes-back-and-forth.test.ts'],
  // Apart, so that long tests can run it alone.
  stale: ['sheet/kinds-random.test.ts'],
  runs: [
    'kill/run-kill.test.ts',
    'sheet/ai-max-cost.test.ts',
    'sheet/cell-conditions.test.ts',
    'sheet/formulas.test.ts',
    'sheet/keep-fresh.test.ts',
    'sheet/look-ups-random.test.ts',
    'sheet/look-ups.test.ts',
    'sheet/overwrite-manual.test.ts',
    'sheet/people-win.test.ts',
    'sheet/queries.test.ts',
    'sheet/recording.test.ts',
    'sheet/replay.test.ts',
    'sheet/retry-failed.test.ts',
    'sheet/run-control.test.ts',
    'sheet/run-env.test.ts',
    'sheet/run-graph.test.ts',
    'sheet/run-lock.test.ts',
    'sheet/run-races.test.ts',
    'sheet/run-stops.test.ts',
    'sheet/sources.test.ts',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>

const HTTP = 'about HTTP, before or after anything that a store does'
const SHARED = 'opens stores of PostgreSQL itself'
const TRANSPORTS = 'about transports and processes of agents, the same on each engine'
const TOOLS = 'about what tools take, tell and allow; tools.test.ts calls each on both engines'
const CLIENT = 'about what a client sends and reads; answers.test.ts has each response of both engines'
const REQUESTS =
  'about requests of the page; the suite of stores has what they read and write on both engines'
const ROUTES =
  'about requests and responses of routes; answers.test.ts has each on both engines, and the suite of stores what the store does'
const RUNS =
  'decided above the engines, with results that run-commits-tests.ts and runs-tests.ts of the suite commit on both; run-control, run-races, run-graph and shared-runs.test.ts are about runs on PostgreSQL'
const PAGE = 'about the page and what the browser does, the same on each engine'

/** The other files beside them, and why they run on SQLite alone, or on PostgreSQL alone. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  'http/as-of.test.ts':
    'routes; sheet/as-of.test.ts and history-tests.ts of the suite have earlier states on both engines',
  'http/cells.test.ts':
    'routes; random-tests.ts of the suite and cell-conditions.test.ts have cells by their state on both engines',
  'http/contract-changes.test.ts':
    'rules of changes above the engines; change-definition.test.ts, changes-back-and-forth.test.ts and field-changes-tests.ts of the suite have their effects on both',
  'http/definition-history.test.ts':
    'routes; changes-back-and-forth.test.ts takes back changes on both engines',
  'http/derivation-files.test.ts':
    'routes; change-definition.test.ts and keep-fresh.test.ts have their effects on both engines',
  'http/etag.test.ts': 'routes; versions-tests.ts of the suite has versions and conflicts on both engines',
  'http/explain-cell.test.ts': ROUTES,
  'http/export.test.ts':
    'formats and streams; pages-tests.ts and records-tests.ts of the suite have what they read on both engines',
  'http/import.test.ts': ROUTES,
  'http/materialize.test.ts': ROUTES,
  'http/ndjson.test.ts': ROUTES,
  'http/openapi.test.ts': 'the document; mcp/tools.test.ts names the SQL of each engine',
  'http/preview.test.ts':
    'computes without the store; formulas.test.ts and queries.test.ts have the SQL of each engine',
  'http/proposals.test.ts': ROUTES,
  'http/records.test.ts': ROUTES,
  'http/revert.test.ts': ROUTES,
  'http/runs.test.ts': ROUTES,
  'http/status-and-provenance.test.ts': ROUTES,
  'kill/fallbacks-kill.test.ts':
    'order of stored steps; run-kill.test.ts and test/cluster kill servers and workers of PostgreSQL, first-workers.test.ts shares steps there',
  'kill/materialize-kill.test.ts':
    'a store and its log file; run-kill.test.ts and test/cluster kill servers and workers of PostgreSQL',
  'kill/proposal-kill.test.ts':
    'a store and its log file; on PostgreSQL a decision is one transaction, as each write of upsert-kill.test.ts',
  'mcp/budget.test.ts': 'counted above the engines; shared-runs.test.ts has the bounds of runs on PostgreSQL',
  'sheet/blocked-cells.test.ts':
    'rules of blocks; random-tests.ts of the suite counts and lists blocked cells on both engines, kinds-random.test.ts those of each kind',
  'sheet/explain-cell.test.ts':
    'rules above the engines; explain-tests.ts of the suite has what they read on both',
  'sheet/import-records.test.ts':
    'rules of files above the engines; upsert-tests.ts of the suite has their writes on both, import-runs.test.ts the runs',
  'sheet/list-records.test.ts':
    'rules above the engines; pages-tests.ts and conditions-tests.ts of the suite have pages on both',
  'sheet/on-status.test.ts': RUNS,
  'sheet/prune-runs.test.ts':
    'options above the engines; prune-runs-tests.ts of the suite removes runs on both',
  'sheet/read-contract.test.ts':
    'rules above the engines; contract-tests.ts of the suite has invalid definitions on both',
  'sheet/read-provenance.test.ts':
    'pages above the engines; records-tests.ts and history-tests.ts of the suite have the log on both',
  'sheet/restore-records.test.ts': 'rules above the engines; restore-tests.ts of the suite restores on both',
  'sheet/run-cache.test.ts':
    'decided above the engines; runs-tests.ts of the suite has cache entries on both, shared-runs.test.ts one call for equal requests on PostgreSQL',
  'sheet/run-frames.test.ts':
    'decided above the engines; shared-frames.test.ts and run-control.test.ts have frames of PostgreSQL',
  'sheet/run-limits.test.ts':
    'bounds above the engines; run-commits-tests.ts and stored-runs-tests.ts of the suite have pages of runs and failures on both',
  'sheet/run-outcomes.test.ts': RUNS,
  'sheet/run-refused.test.ts': 'refused before a call, above the engines',
  'sheet/run-reuse.test.ts':
    'decided above the engines; responses-tests.ts of the suite keeps responses on both',
  'web/runs.test.ts':
    'the page; missed-frames.test.ts has it on PostgreSQL, run-control.test.ts and shared-frames.test.ts the runs and frames',
  'client/client.test.ts': CLIENT,
  'client/record-types.test.ts': 'about types, with a server that is made up',
  'http/close.test.ts': HTTP,
  'http/compression.test.ts': HTTP,
  'http/content-types.test.ts': HTTP,
  'http/csrf-matrix.test.ts': HTTP,
  'http/csrf.test.ts': HTTP,
  'http/envelope.test.ts': HTTP,
  'http/event-queues.test.ts':
    'frames of one process; shared-events.test.ts is about those that servers share',
  'http/head.test.ts': HTTP,
  'http/health.test.ts': HTTP,
  'http/hostile-requests.test.ts': HTTP,
  'http/hostile-sql.test.ts':
    'SQLite’s SQL; src/store/postgres/sql/sql-hostile.test.ts is about PostgreSQL’s',
  'http/many-subscribers.test.ts': 'frames of one process',
  'http/origin-guard.test.ts': HTTP,
  'http/origin-matrix.test.ts': HTTP,
  'http/pages.test.ts': HTTP,
  'http/parser-errors.test.ts': HTTP,
  'http/problem-details.test.ts': HTTP,
  'http/query-load.test.ts': 'processes for SQL, which PostgreSQL needs none of',
  'http/run-events.test.ts': HTTP,
  'http/schema-agreement.test.ts': HTTP,
  'http/security-headers.test.ts': HTTP,
  'http/database-restart.test.ts': SHARED,
  'http/shared-events.test.ts': SHARED,
  'http/set-aside.test.ts': 'provenance.jsonl, which PostgreSQL has none of',
  'http/slow-clients.test.ts': HTTP,
  'http/sse.test.ts': HTTP,
  'http/trusted-actor.test.ts': HTTP,
  'kill/change-kill.test.ts':
    'the files of a directory beside its store; change-kill-postgres.test.ts is about PostgreSQL',
  'kill/change-kill-postgres.test.ts': SHARED,
  'kill/field-kill.test.ts':
    'several statements in one file of SQLite; in PostgreSQL a change is one transaction',
  'mcp/definition.test.ts': TOOLS,
  'mcp/errors.test.ts': TOOLS,
  'mcp/http.test.ts': TRANSPORTS,
  'mcp/processes.test.ts': TRANSPORTS,
  'mcp/resources.test.ts': TOOLS,
  'mcp/runs.test.ts': TOOLS,
  'mcp/scopes.test.ts': TOOLS,
  'mcp/secrets.test.ts': 'what is told of requests, before or after anything that a store does',
  'sheet/behind-a-pooler.test.ts': SHARED,
  'sheet/definition-files.test.ts':
    'files on disk: removed, renamed, unreadable, edited twice in a tick; push-and-pull.test.ts is about revisions',
  'sheet/kinds-module.test.ts': SHARED,
  'sheet/first-kind.test.ts': 'the kind by itself; first.test.ts is about sheets',
  'sheet/formula-kind.test.ts': 'the kind by itself; formulas.test.ts is about sheets',
  'sheet/other-sheets.test.ts':
    'sheets in PostgreSQL have no sheets beside them; look-ups.test.ts has what they say',
  'sheet/ai-workers.test.ts': SHARED,
  'sheet/ai.test.ts':
    'models and their answers; ai-workers.test.ts, ai-max-cost.test.ts and kinds-random.test.ts run the kind on PostgreSQL',
  'sheet/first.test.ts':
    'steps and their order; first-workers.test.ts and kinds-random.test.ts run the kind on PostgreSQL',
  'sheet/first-workers.test.ts': SHARED,
  'sheet/ai-kind.test.ts': 'the kind by itself; ai.test.ts is about sheets',
  'sheet/ai-answers.test.ts': 'the kind by itself; ai.test.ts is about sheets',
  'sheet/script-batches.test.ts':
    'answers of processes, before anything that a store does; scripts.test.ts is about sheets',
  'sheet/script-kind.test.ts': 'the kind by itself; scripts.test.ts is about sheets',
  'sheet/scripts.test.ts':
    'processes and what they print; sources.test.ts and run-env.test.ts have files and secrets of any kind on both engines',
  'sheet/second-kind.test.ts':
    'the interface of kinds, with what runs of http, formulas and models store as well, on both engines',
  'sheet/script-processes.test.ts': 'processes of scripts; scripts.test.ts is about sheets',
  'sheet/rename-in-derivation.test.ts': 'texts alone; the formulas of each engine are tested with it',
  'sheet/rename-in-query.test.ts': 'texts alone; both engines are tested with it',
  'sheet/look-up-kind.test.ts': 'the kind by itself; look-ups.test.ts is about sheets',
  'sheet/push-and-pull.test.ts': SHARED,
  'sheet/run-store-faults.test.ts':
    'faults put between a run and the store of its process; shared-runs.test.ts and test/cluster are about runs of several',
  'sheet/shared-frames.test.ts': SHARED,
  'sheet/shared-runs.test.ts': SHARED,
  'sheet/skewed-clocks.test.ts': SHARED,
  'sheet/waiting-runs.test.ts': SHARED,
  'web/away.test.ts': PAGE,
  'web/columns.test.ts': PAGE,
  'web/definition.test.ts': PAGE,
  'web/deleted.test.ts': REQUESTS,
  'web/docs.test.ts': PAGE,
  'web/empty.test.ts': 'records that the server imports, which other tests do on both engines',
  'web/editing.test.ts': REQUESTS,
  'web/every-page.test.ts': PAGE,
  'web/field-changes.test.ts': PAGE,
  'web/files.test.ts': PAGE,
  'web/find.test.ts': PAGE,
  'web/first-view.test.ts': PAGE,
  'web/formats.test.ts': PAGE,
  'web/forms.test.ts': PAGE,
  'web/groups.test.ts': 'the panel; store/suite/summary-tests.ts has the groups on both engines',
  'web/large-sheet.test.ts': 'hundreds of thousands of records, which would take minutes to push',
  'web/look.test.ts': PAGE,
  'web/missed-frames.test.ts': PAGE,
  'web/newcomer.test.ts': PAGE,
  'web/pages.test.ts': PAGE,
  'web/panel.test.ts':
    'the panel; explain-tests.ts, history-tests.ts and revert-tests.ts of the suite have its contents on both engines',
  'web/places.test.ts': PAGE,
  'web/proposals.test.ts': REQUESTS,
  'web/proxied.test.ts': PAGE,
  'web/review.test.ts': PAGE,
  'web/saved-views.test.ts': PAGE,
  'web/sql.test.ts': 'the console, with statements of SQLite; http/query.test.ts is about queries on both',
  'web/time.test.ts':
    'the page; store/suite/history-tests.ts and sheet/as-of.test.ts have earlier states on both engines',
  'web/verify.test.ts': PAGE,
  'web/views.test.ts':
    'the page; http/conditions.test.ts, http/sorted-pages.test.ts and the suite of stores have filters and orders',
  'web/wide.test.ts': PAGE,
}

import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after as afterAll, before as beforeAll, test, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { contractText } from '../../../../test/support/contract-with.ts'
import { failureGroup } from '../../../errors/failure-group.ts'
import { parseContract } from '../../../contract/odcs/parse-contract.ts'
import { LockTimeoutError } from '../../../errors/service-error.ts'
import type { WorkItem } from '../../cell-work.ts'
import {
  AGENT,
  computed,
  entriesOf,
  HUMAN,
  newRun,
  NOTHING_ELSE,
  target,
} from '../../suite/support/test-sheet.ts'
import { Connection } from './connection.ts'
import { storePaths } from '../definition/create-store.ts'
import { migrate } from './migrate.ts'
import { FIRST_TABLES, MIGRATIONS, SCHEMA_VERSION } from './schema.ts'
import { PATIENT_LIMITS } from '../../suite/support/patient-limits.ts'
import { SqliteStore } from '../sqlite-store.ts'
import { Writer } from '../write/writer.ts'

const CONTRACT = parseContract(
  contractText(['{name: a, logicalType: string}', '{name: label, logicalType: string}']),
)
const TARGETS = [target('label', ['a'])]
const FIELDS = ['id', 'a', 'label']

/** Removes the changes of version 33 and later. */
const BACK_TO_VERSION_32 = `
  DROP TABLE "$packed";
  ALTER TABLE "$sheet" DROP COLUMN mirror_file;
  DROP TABLE "$log_node"; DROP TABLE "$checkpoint";
  UPDATE "$sheet" SET schema_version = 32`

/** Removes the changes of version 32 and later ones. */
const BACK_TO_VERSION_31 = `${BACK_TO_VERSION_32};
  DROP TABLE "$recorded";
  UPDATE "$sheet" SET schema_version = 31`

/** Removes the changes of version 31 and later ones. */
const BACK_TO_VERSION_30 = `${BACK_TO_VERSION_31};
  DROP INDEX "$failure_alike"; DROP INDEX "$run_failure_alike";
  ALTER TABLE "$failure" DROP COLUMN detail; ALTER TABLE "$failure" DROP COLUMN alike;
  ALTER TABLE "$run_failure" DROP COLUMN alike;
  UPDATE "$sheet" SET schema_version = 30`

/** Removes the changes of version 28 and later ones. */
const BACK_TO_VERSION_27 = `${BACK_TO_VERSION_30};
  DROP TABLE "$chart"; DROP TABLE "$writer"; DROP TABLE "$written"; DROP TABLE "$written_field";
  ALTER TABLE "$target" DROP COLUMN blocked_stale; ALTER TABLE "$target" DROP COLUMN blocked_failed;
  UPDATE "$sheet" SET schema_version = 27`

/** Removes the changes of version 6 and later ones. */
const BACK_TO_VERSION_5 = `${BACK_TO_VERSION_27};
  DROP INDEX "$deleted_seq"; ALTER TABLE "$deleted" DROP COLUMN seq;
  DROP INDEX "$proposal_of_record";
  ALTER TABLE "$proposal" DROP COLUMN decisions; ALTER TABLE "$proposal_record" DROP COLUMN decided;
  DROP TABLE "$review";
  DROP TABLE "$view";
  DROP INDEX "$todo_known"; DROP INDEX "$todo_blocked"; DROP INDEX "$cell_overridden";
  ALTER TABLE "$proposal" DROP COLUMN fields_seq; ALTER TABLE "$proposal" DROP COLUMN definition;
  DROP TABLE "$field_change"; ALTER TABLE "$target" DROP COLUMN changed;
  DROP TABLE "$usage";
  DROP TABLE "$definition_change"; DROP TABLE "$definition_file"; DROP TABLE "$definition_text";
  ALTER TABLE "$run_failure" DROP COLUMN detail;
  ALTER TABLE "$target" DROP COLUMN sources; ALTER TABLE "$target" DROP COLUMN checked_sources;
  ALTER TABLE "$target" DROP COLUMN reads;
  ALTER TABLE "$run" DROP COLUMN error_code;
  ALTER TABLE "$failure" DROP COLUMN reason; ALTER TABLE "$run_failure" DROP COLUMN reason;
  DROP TABLE "$run_body"; ALTER TABLE "$run_failure" DROP COLUMN body;
  ALTER TABLE "$failure" DROP COLUMN hash; ALTER TABLE "$target" DROP COLUMN non_empty;
  ALTER TABLE "$run" DROP COLUMN manual_left; ALTER TABLE "$run" DROP COLUMN manual_overwritten;
  ALTER TABLE "$target" DROP COLUMN required; ALTER TABLE "$target" DROP COLUMN blocked;
  ALTER TABLE "$todo" DROP COLUMN blocked;
  DROP TABLE "$response";
  ALTER TABLE "$sheet" DROP COLUMN response_bytes; ALTER TABLE "$sheet" DROP COLUMN response_limit;
  ALTER TABLE "$run" DROP COLUMN unpriced_calls; ALTER TABLE "$run" DROP COLUMN left_cells;
  ALTER TABLE "$failure" DROP COLUMN response_body; ALTER TABLE "$run_failure" DROP COLUMN response_body;
  DROP TABLE "$deleted_block"`

/** Removes the changes of version 3 as well. */
const BACK_TO_VERSION_2 = `${BACK_TO_VERSION_5};
  DROP TABLE "$proposal"; DROP TABLE "$proposal_record";
  ALTER TABLE "$sheet" DROP COLUMN last_proposal; ALTER TABLE "$sheet" DROP COLUMN proposal_changes;
  UPDATE "$sheet" SET schema_version = 2`

/** Removes the changes of version 2 as well. */
const BACK_TO_VERSION_1 = `${BACK_TO_VERSION_2};
  DROP INDEX "$provenance_of_run"; ALTER TABLE "$provenance" DROP COLUMN run;
  DROP INDEX "$deleted_record";
  DROP TABLE "$run"; DROP TABLE "$run_failure"; DROP TABLE "$derivation";
  ALTER TABLE "$sheet" DROP COLUMN last_run; ALTER TABLE "$sheet" DROP COLUMN history_after;
  UPDATE "$sheet" SET schema_version = 1`

/** A sheet whose store is of version 1, for the tests to copy. */
const version1 = mkdtempSync(join(tmpdir(), 'colophon-version-1-'))
beforeAll(() => makeVersion1(version1))
afterAll(() => rmSync(version1, { recursive: true }))

function directoryFor(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'colophon-migrate-'))
  t.after(() => rmSync(directory, { recursive: true }))
  return directory
}

function version1For(t: TestContext): string {
  const directory = directoryFor(t)
  cpSync(version1, directory, { recursive: true })
  return directory
}

function openStore(directory: string): Promise<SqliteStore> {
  return SqliteStore.open(directory, {
    definition: { contract: CONTRACT, targets: TARGETS },
    actor: 'system:import',
    lockTimeoutMs: 5000,
    queryLimits: PATIENT_LIMITS,
    onSourceDiffers: () => undefined,
  })
}

/** A writer in this thread with the store open, until `close`. */
async function openWriter(directory: string, lockTimeoutMs = 5000): Promise<Writer> {
  const writer = new Writer()
  const request = { directory, lockTimeoutMs, actor: 'system:import' }
  await writer.handle('open', { ...request, define: { contractText: CONTRACT.text, targets: TARGETS } })
  return writer
}

const closed = async (writer: Writer): Promise<unknown> => writer.handle('close', null)

function sql<T>(directory: string, use: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(storePaths(directory).database, { timeout: 1000 })
  try {
    return use(db)
  } finally {
    db.close()
  }
}

const write = (store: SqliteStore, ...records: object[]): Promise<unknown> =>
  store.upsert({ body: JSON.stringify({ records }), defaultActor: HUMAN, ifMatch: null })

async function workOf(store: SqliteStore, id: string): Promise<WorkItem> {
  const only = [...(await store.recordKeys([id])).values()]
  const query = { targets: ['label'], inputs: ['a'], force: true, state: null, after: null, limit: 1 }
  const [item] = await store.work({ ...query, only })
  assert.ok(item)
  return item
}

/** Makes a store of version 1 with what a sheet has: records, a deleted one, computed and failed cells. */
async function makeVersion1(directory: string): Promise<void> {
  const store = await openStore(directory)
  await write(store, { id: 'a', a: 'x' }, { id: 'b', a: 'y' }, { id: 'gone', a: 'z' })
  await store.delete(['gone'], HUMAN)
  const run = await store.startRun(newRun())
  const results = {
    a: computed('A', 'hash of a'),
    b: {
      kind: 'failed',
      error: 'GET https://a.example/ -> 503',
      errorType: 'ServiceError',
      reason: 'status',
    },
  } as const
  for (const [id, result] of Object.entries(results)) {
    const { key, cells } = await workOf(store, id)
    const cell = {
      key,
      target: 'label',
      version: cells[0]?.version ?? '',
      sha256: TARGETS[0]?.sha256 ?? '',
      result,
    }
    await store.commitCells({ actor: AGENT, run, progress: NOTHING_ELSE, cells: [cell], cache: [] })
  }
  await store.close()
  sql(directory, (db) => db.exec(BACK_TO_VERSION_1))
}

/** The tables of a database with their columns, and its indexes. */
function shapeOf(db: DatabaseSync): object {
  const objects = db.prepare(`SELECT type, name FROM sqlite_schema WHERE name LIKE '$%' ORDER BY name`).all()
  return Object.fromEntries(
    objects.map(({ type, name }) => [
      name,
      type === 'index' ? type : db.prepare('SELECT * FROM pragma_table_xinfo(?)').all(String(name)),
    ]),
  )
}

test('the store of version 1 of these tests is valid', (t) => {
  const made = sql(version1, shapeOf)
  const first = new DatabaseSync(':memory:')
  t.after(() => first.close())
  first.exec(FIRST_TABLES)
  const { $data, ...tables } = made as Record<string, object>
  assert.ok($data)
  assert.deepEqual(tables, shapeOf(first))
})

test('a store of version 1 opens with all of its contents, and runs work', async (t) => {
  const directory = version1For(t)
  const log = readFileSync(storePaths(directory).log)
  const store = await openStore(directory)
  t.after(() => store.close())
  const page = await store.page({ fields: FIELDS, limit: 10, after: null, filter: null, sort: [], skip: 0 })
  assert.deepEqual(JSON.parse(String(page.records)), [
    { id: 'a', a: 'x', label: 'A' },
    { id: 'b', a: 'y', label: null },
  ])
  const positioned = { fields: ['id'], limit: 1, after: null, filter: null, sort: [], skip: 1 }
  assert.equal(String((await store.page(positioned)).records), '[{"id":"b"}]')
  const blocks = sql(directory, (db) => db.prepare('SELECT deleted FROM "$deleted_block"').all())
  assert.deepEqual(
    blocks.map(({ deleted }) => deleted),
    [1, 1, 1],
  )
  const { total, targets } = await store.status()
  assert.deepEqual([total, targets[0]?.fresh, targets[0]?.failed], [2, 1, 1])
  const history = await entriesOf(store, 'gone', 'a')
  assert.deepEqual(
    history?.map(({ value }) => value),
    ['z', null],
  )
  assert.ok(readFileSync(storePaths(directory).log).equals(log))
  assert.equal((await store.cellFailure((await workOf(store, 'b')).key, 'label'))?.errorType, 'ServiceError')
  assert.deepEqual(
    (await store.derivationVersions('label.yaml')).map(({ text }) => text),
    ['label.yaml'],
    'the version in force is kept from now on',
  )
  const run = await store.startRun(newRun())
  assert.equal(run, '1')
  const { key, cells } = await workOf(store, 'b')
  const cell = { key, target: 'label', version: cells[0]?.version ?? '', sha256: TARGETS[0]?.sha256 ?? '' }
  await store.commitCells({
    actor: AGENT,
    run,
    progress: NOTHING_ELSE,
    cache: [],
    cells: [{ ...cell, result: computed('B', 'hash of b') }],
  })
  const [entry, ...others] = await store.runEntries({ run, before: null, limit: 10 })
  assert.deepEqual([entry?.recordId, entry?.field, others], ['b', 'label', []])
  assert.equal((await store.run(run))?.materialized, 1)
})

test('a migrated store has the tables of a new one', async (t) => {
  const [old, fresh] = [version1For(t), directoryFor(t)]
  for (const directory of [old, fresh]) await closed(await openWriter(directory))
  assert.deepEqual(sql(old, shapeOf), sql(fresh, shapeOf))
  const { version } =
    sql(old, (db) => db.prepare('SELECT schema_version AS version FROM "$sheet"').get()) ?? {}
  assert.equal(version, SCHEMA_VERSION)
})

test('a store of version 2 opens with its runs, and proposals can be made', async (t) => {
  const directory = directoryFor(t)
  const before = await openStore(directory)
  await write(before, { id: 'a', a: 'x' })
  assert.equal(await before.startRun(newRun()), '1')
  await before.close()
  sql(directory, (db) => db.exec(BACK_TO_VERSION_2))
  const store = await openStore(directory)
  t.after(() => store.close())
  assert.equal((await store.run('1'))?.actor, AGENT)
  const change = { records: [{ id: 'a', a: 'y' }] }
  assert.deepEqual(await store.proposals.counts(), { waiting: 0, changes: 0 })
  assert.equal(await store.proposals.propose({ change, actor: AGENT, note: null }), '1')
  await store.proposals.accept({ id: '1', actor: HUMAN })
  assert.deepEqual(await store.proposals.counts(), { waiting: 0, changes: 2 })
})

test('a store of version 27 opens with its blocked cells counted by state', async (t) => {
  const directory = directoryFor(t)
  const before = await openStore(directory)
  await write(before, { id: 'a', a: 'x' })
  await before.close()
  sql(directory, (db) =>
    db.exec(`${BACK_TO_VERSION_27};
      UPDATE "$todo" SET state = 2, blocked = 1;
      UPDATE "$target" SET missing = 0, stale = 1, blocked = 1`),
  )
  const store = await openStore(directory)
  t.after(() => store.close())
  const [label] = (await store.status()).targets
  assert.deepEqual([label?.blocked, label?.ready], [1, { missing: 0, stale: 0, failed: 0 }])
})

test('a store of version 27 opens with the writers of its computed values', async (t) => {
  const directory = directoryFor(t)
  const before = await openStore(directory)
  await write(before, { id: 'a', a: 'x' })
  const run = await before.startRun(newRun())
  const { key, cells } = await workOf(before, 'a')
  const cell = { key, target: 'label', version: cells[0]?.version ?? '', sha256: TARGETS[0]?.sha256 ?? '' }
  await before.commitCells({
    actor: AGENT,
    run,
    progress: NOTHING_ELSE,
    cache: [],
    cells: [{ ...cell, result: computed('A', 'hash of a') }],
  })
  await before.close()
  sql(directory, (db) => db.exec(BACK_TO_VERSION_27))
  const store = await openStore(directory)
  t.after(() => store.close())
  assert.deepEqual(await store.writerCounts(), {
    actors: [{ actor: AGENT, cells: 1 }],
    latestRun: { run, actor: AGENT, cells: 1 },
  })
  assert.deepEqual(await store.cellWriters(new Map([[key, 'a']])), [
    { recordId: 'a', field: 'label', actor: AGENT, run },
  ])
})

test('a store of version 29 opens with its views, and with charts', async (t) => {
  const directory = directoryFor(t)
  const before = await openStore(directory)
  const state = { conditions: [], sql: null, sort: ['a'], columns: {} }
  const id = await before.views.save({ id: null, name: 'Mine', state, actor: HUMAN })
  await before.close()
  sql(directory, (db) =>
    db.exec(`${BACK_TO_VERSION_30}; DROP TABLE "$chart"; UPDATE "$sheet" SET schema_version = 29`),
  )
  const store = await openStore(directory)
  t.after(() => store.close())
  assert.deepEqual(
    (await store.views.list()).map((view) => view.id),
    [id],
  )
  const chart = { group: 'a', split: null, total: null, period: 'month' } as const
  await store.charts.save({ id: null, name: 'Mine', state: chart, actor: HUMAN })
  assert.deepEqual((await store.charts.list())[0]?.state, chart)
})

test('a store of version 31 opens, and records calls', async (t) => {
  const directory = directoryFor(t)
  await (await openStore(directory)).close()
  sql(directory, (db) => db.exec(BACK_TO_VERSION_31))
  const store = await openStore(directory)
  t.after(() => store.close())
  await store.storeResults({ cache: [], recorded: ['{}'] })
  assert.equal((await store.responses.recorded(0)).lines[0]?.line, '{}')
})

test('a store of version 30 opens with its failures in groups', async (t) => {
  const directory = directoryFor(t)
  const before = await openStore(directory)
  await before.close()
  const [present, ofRun] = [
    { error: 'GET https://a.example/1 -> 404', errorType: 'ServiceError' },
    { error: 'GET https://a.example/ä -> 404', errorType: 'ServiceError', detail: '404' },
  ] as const
  sql(directory, (db) => {
    db.exec(BACK_TO_VERSION_30)
    db.prepare(`INSERT INTO "$failure" (target, record, error, error_type, at) VALUES (1, 1, ?, ?, '')`).run(
      present.error,
      present.errorType,
    )
    db.prepare(
      `INSERT INTO "$run_failure" (run, number, record_id, field, error, detail, error_type, at) VALUES (1, 1, 'a', 'label', ?, ?, ?, '')`,
    ).run(ofRun.error, ofRun.detail, ofRun.errorType)
  })
  const store = await openStore(directory)
  await store.close()
  const groupsOf = (table: string): unknown =>
    sql(directory, (db) => db.prepare(`SELECT alike FROM "${table}"`).get()?.['alike'])
  assert.deepEqual(
    [groupsOf('$failure'), groupsOf('$run_failure')],
    [failureGroup(present), failureGroup(ofRun)],
  )
})

test('the log of a store of version 1 is known up to its end, import lines included', async (t) => {
  const line = (seq: number, more: object): string =>
    `${JSON.stringify({ seq, at: '2026-01-01T00:00:00.000Z', actor: 'human:old', ...more })}\n`
  const written = { source: 'write', record_id: 'a', values: { id: 'a' }, previous: { id: null } }
  const imported = { source: 'import', file: 'records.jsonl', sha256: '00', records: 5 }
  const historyAfter = (directory: string): unknown =>
    sql(directory, (db) => db.prepare('SELECT history_after FROM "$sheet"').get())?.['history_after']
  const cases: [log: string[], records: string, wanted: number][] = [
    [[], '', 0],
    [[], '{"id":"new"}\n', 0],
    [[line(1, written), line(2, imported)], '', 2],
    [[line(1, written), line(2, imported)], '{"id":"new"}\n', 2],
  ]
  for (const [log, records, wanted] of cases) {
    for (const more of [[], [{ id: 'later' }]]) {
      const directory = directoryFor(t)
      const paths = storePaths(directory)
      if (log.length > 0) writeFileSync(paths.log, log.join(''))
      if (records !== '') writeFileSync(paths.source, records)
      const writer = await openWriter(directory)
      const body = { records: more }
      const argument = { body, defaultActor: HUMAN, ifMatch: null }
      await writer.change([{ id: 1, operation: 'upsert', argument }])
      await closed(writer)
      assert.equal(historyAfter(directory), wanted, 'of a new store')
      sql(directory, (db) => db.exec(BACK_TO_VERSION_1))
      await closed(await openWriter(directory))
      assert.equal(historyAfter(directory), wanted, 'of one that was brought to this version')
    }
  }
})

test('a store of version 1 is migrated once, by the process that gets the lock first', async (t) => {
  const directory = version1For(t)
  const other = new DatabaseSync(storePaths(directory).database)
  t.after(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  const waiting = [openWriter(directory), openWriter(directory)]
  // They have read version 1 by now, and wait for the lock.
  await nextTurn()
  other.exec(`${MIGRATIONS[2] ?? ''}; UPDATE "$sheet" SET schema_version = 2; COMMIT`)
  for (const writer of await Promise.all(waiting)) await closed(writer)
})

test('a store of version 1 that another process keeps locked is a LockTimeoutError, and stays at version 1', async (t) => {
  const directory = version1For(t)
  const other = new DatabaseSync(storePaths(directory).database)
  t.after(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  await assert.rejects(openWriter(directory, 0), LockTimeoutError)
  const version = other.prepare('SELECT schema_version FROM "$sheet"').get()?.['schema_version']
  assert.equal(version, 1)
  const waiting = openWriter(directory)
  other.exec('COMMIT')
  await closed(await waiting)
})

test('a migration that fails halfway leaves the store unchanged', async (t) => {
  const directory = version1For(t)
  sql(directory, (db) => db.exec('CREATE TABLE "$derivation" (in_the_way)'))
  const before = sql(directory, shapeOf)
  const connection = Connection.forWriting(storePaths(directory).database)
  const wait = { deadline: performance.now() + 5000, what: 'the store' }
  await assert.rejects(migrate(connection, wait), /already exists/)
  connection.close()
  assert.deepEqual(sql(directory, shapeOf), before)
  sql(directory, (db) => db.exec('DROP TABLE "$derivation"'))
  await closed(await openWriter(directory))
})

test('applying an equal definition writes nothing', async (t) => {
  const directory = directoryFor(t)
  const writer = await openWriter(directory)
  t.after(() => closed(writer))
  const other = new DatabaseSync(storePaths(directory).database, { readOnly: true })
  t.after(() => other.close())
  const version = (): unknown => other.prepare('PRAGMA data_version').get()?.['data_version']
  const known = version()
  await writer.handle('define', { contractText: CONTRACT.text, targets: TARGETS })
  assert.equal(version(), known)
  const changed = [target('label', ['a'], { sha256: 'ff' })]
  await writer.handle('define', { contractText: CONTRACT.text, targets: changed })
  assert.notEqual(version(), known)
})

test('a store of version 3 with x-indexed, which had no meaning then, gets its indexes', async (t) => {
  const directory = directoryFor(t)
  const properties = [
    '{name: a, logicalType: string, x-indexed: true}',
    '{name: at, logicalType: timestamp, x-indexed: true}',
  ]
  const contract = parseContract(contractText([...properties, '{name: tags, logicalType: array}']))
  const open = (): Promise<SqliteStore> =>
    SqliteStore.open(directory, {
      definition: { contract, targets: [] },
      actor: 'system:import',
      lockTimeoutMs: 5000,
      queryLimits: PATIENT_LIMITS,
      onSourceDiffers: () => undefined,
    })
  const made = await open()
  await write(made, { id: 'r', a: 'x' })
  await made.close()
  const names =
    "SELECT name FROM sqlite_schema WHERE tbl_name = '$data' AND sql LIKE 'CREATE INDEX%' ORDER BY name"
  const indexes = sql(directory, (db) => db.prepare(names).all())
  assert.equal(indexes.length, 3)
  // The former version accepted any text.
  const stored = contract.text.replace('name: tags', "x-indexed: 'yes', name: tags")
  sql(directory, (db) => {
    for (const { name } of indexes) db.exec(`DROP INDEX "${String(name)}"`)
    db.exec(BACK_TO_VERSION_5)
    db.prepare('UPDATE "$sheet" SET schema_version = 3, contract = ?').run(stored)
  })
  const store = await open()
  t.after(() => store.close())
  assert.deepEqual(
    sql(directory, (db) => db.prepare(names).all()),
    indexes,
  )
})

test('D32: the blocked cells of a store of version 5 are found when its derivations are applied', async (t) => {
  const directory = directoryFor(t)
  const properties = ['a', 'b', 'label', 'next'].map((name) => `{name: ${name}, logicalType: string}`)
  const definition = {
    contract: parseContract(contractText(properties)),
    targets: [target('label', ['a'], { required: ['a'] }), target('next', ['label', 'b'])],
  }
  const open = (): Promise<SqliteStore> =>
    SqliteStore.open(directory, {
      definition,
      actor: 'system:import',
      lockTimeoutMs: 5000,
      queryLimits: PATIENT_LIMITS,
      onSourceDiffers: () => undefined,
    })
  const before = await open()
  await write(before, { id: 'empty' }, { id: 'full', a: 'x' })
  const { targets } = await before.status()
  await before.close()
  sql(directory, (db) => db.exec(`${BACK_TO_VERSION_5}; UPDATE "$sheet" SET schema_version = 5`))
  const store = await open()
  t.after(() => store.close())
  assert.deepEqual(
    targets.map(({ blocked }) => blocked),
    [1, 1],
  )
  assert.deepEqual((await store.status()).targets, targets)
})

test('a run of an earlier version with a repeated target has it once', async (t) => {
  const directory = directoryFor(t)
  const before = await openStore(directory)
  const once = await before.startRun(newRun({ targets: ['label', 'label'] }))
  const often = await before.startRun(
    newRun({
      targets: Array.from({ length: 20_000 }, (_, index) => (index % 3 === 1 ? 'label' : 'a')),
      limit: 7,
    }),
  )
  const all = await before.startRun(newRun())
  await before.close()
  sql(directory, (db) => db.exec(`${BACK_TO_VERSION_5}; UPDATE "$sheet" SET schema_version = 5`))
  const store = await openStore(directory)
  t.after(() => store.close())
  assert.deepEqual((await store.run(once))?.targets, ['label', 'label'])
  const { targets, limit } = (await store.run(often)) ?? {}
  assert.deepEqual([targets, limit], [['a', 'label'], 7])
  assert.equal((await store.run(all))?.targets, null)
})

const COUNTS = {
  ...NOTHING_ELSE,
  done: 0,
  total: 0,
  materialized: 0,
  failed: 0,
  manualLeft: 0,
  manualOverwritten: 0,
}

test('what ended a run of an earlier version, and why a cell failed, has no code', async (t) => {
  const directory = version1For(t)
  await closed(await openWriter(directory))
  const before = await openStore(directory)
  const run = await before.startRun(newRun())
  const error = { type: 'LockTimeoutError', code: 'run_in_progress', message: 'another run goes on' } as const
  await before.endRun(run, { state: 'failed', error, cancelledBy: null, progress: COUNTS })
  assert.deepEqual((await before.run(run))?.error, error)
  await before.close()
  sql(directory, (db) => db.exec(`${BACK_TO_VERSION_5}; UPDATE "$sheet" SET schema_version = 5`))
  const store = await openStore(directory)
  t.after(() => store.close())
  assert.deepEqual((await store.run(run))?.error, { ...error, code: null })
  const { key } = await workOf(store, 'b')
  const { errorType, reason } = (await store.cellFailure(key, 'label')) ?? {}
  assert.deepEqual([errorType, reason], ['ServiceError', null])
})

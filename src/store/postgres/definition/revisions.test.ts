import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { contractText } from '../../../../test/support/contract-with.ts'
import { startPostgres } from '../../../../test/support/postgres.ts'
import { parseContract } from '../../../contract/odcs/parse-contract.ts'
import { failureGroup } from '../../../errors/failure-group.ts'
import {
  ContractError,
  LockTimeoutError,
  RecordsError,
  SheetError,
  ValidationError,
} from '../../../errors/service-error.ts'
import { OutdatedDefinitionError, type PushOutcome, type RevisionFile } from '../../revision-store.ts'
import type { StoreDefinition, TargetDefinition } from '../../sheet-store.ts'
import { entriesOf, FIRST_PAGE, HUMAN, sha256, target } from '../../suite/support/test-sheet.ts'
import { Database } from '../database/database.ts'
import { PostgresStore } from '../postgres-store.ts'
import { pushRevision } from './push-revision.ts'
import { PostgresRevisions } from './revisions.ts'
import { quoted } from '../database/schema.ts'
import { PATIENT_LIMITS } from '../../suite/support/patient-limits.ts'
import { parseStoreUrl } from '../database/store-url.ts'

const server = await startPostgres()

const SUM =
  "{name: sum, logicalType: integer, customProperties: [{property: editableBy, value: ['human:ann']}]}"
const PROPERTIES = ['{name: n, logicalType: integer}', SUM]

/** A directory of a sheet with three records, and a schema that it can be pushed into. */
class Pushed {
  readonly url = server.freshUrl()
  readonly directory: string
  readonly #t: TestContext

  private constructor(t: TestContext, directory: string) {
    this.#t = t
    this.directory = directory
  }

  static async make(t: TestContext): Promise<Pushed> {
    const directory = await mkdtemp(join(tmpdir(), 'colophon-push-'))
    t.after(() => rm(directory, { recursive: true }))
    const records = [1, 2, 3].map((n) => `${JSON.stringify({ id: `r${n}`, n })}\n`)
    await writeFile(join(directory, 'records.jsonl'), records.join(''))
    return new Pushed(t, directory)
  }

  push(more: Partial<PushRequest> = {}): Promise<PushOutcome> {
    const { properties = PROPERTIES, targets = [target('sum', ['n'])], dryRun = false, files = [] } = more
    const { lockTimeoutMs = 5000 } = more
    const text = contractText(properties)
    return pushRevision(this.url, {
      directory: this.directory,
      files: [{ path: 'contract.yaml', bytes: Buffer.from(text) }, ...files],
      contract: parseContract(text),
      targets,
      formulas: [],
      actor: HUMAN,
      note: more.note ?? null,
      dryRun,
      lockTimeoutMs,
    })
  }

  async revisions(): Promise<PostgresRevisions> {
    const revisions = await PostgresRevisions.open(this.url, 5000)
    this.#t.after(() => revisions.close())
    return revisions
  }

  async open(revision: number, properties: readonly string[] = PROPERTIES): Promise<PostgresStore> {
    const store = await PostgresStore.open(this.url, {
      definition: definitionOf(revision, properties),
      directory: null,
      actor: HUMAN,
      lockTimeoutMs: 5000,
      queryLimits: PATIENT_LIMITS,
      onSourceDiffers: () => undefined,
    })
    this.#t.after(() => store.close())
    return store
  }

  /** Returns the result of a statement that only an operator would run. */
  async run(sql: string): Promise<readonly object[]> {
    const database = new Database(parseStoreUrl(this.url))
    try {
      return await database.all(sql)
    } finally {
      await database.close()
    }
  }
}

interface PushRequest {
  readonly properties: readonly string[]
  readonly targets: readonly TargetDefinition[]
  readonly dryRun: boolean
  readonly note: string
  readonly files: readonly RevisionFile[]
  readonly lockTimeoutMs: number
}

function definitionOf(revision: number, properties: readonly string[]): StoreDefinition {
  return {
    contract: parseContract(contractText(properties)),
    targets: [target('sum', ['n'])],
    revision,
  }
}

async function page(store: PostgresStore, ...fields: readonly string[]): Promise<unknown> {
  const { records } = await store.page({ ...FIRST_PAGE, fields, limit: 10 })
  return JSON.parse(String(records))
}

test('the first push creates the store from the directory, with the exact bytes of the files', async (t) => {
  const sheet = await Pushed.make(t)
  const odd = Buffer.from([0xef, 0xbb, 0xbf, 0x23, 0x0d, 0x0a, 0x00, 0xff])
  const outcome = await sheet.push({ note: 'why', files: [{ path: 'derivations/ü x.yaml', bytes: odd }] })
  assert.deepEqual(outcome.targets, [
    { field: 'sum', derivation: 'sum.yaml', change: 'added', stale: 0, missing: 3 },
  ])
  assert.deepEqual([outcome.number, outcome.created, outcome.records, outcome.before], [1, true, 3, null])
  const revisions = await sheet.revisions()
  const revision = await revisions.read(await revisions.newest())
  assert.deepEqual([revision.number, revision.actor, revision.note], [1, HUMAN, 'why'])
  assert.deepEqual(
    revision.files.map(({ path, bytes }) => [path, Buffer.from(bytes)]),
    [
      ['contract.yaml', Buffer.from(contractText(PROPERTIES))],
      ['derivations/ü x.yaml', odd],
    ],
  )
  assert.deepEqual(await page(await sheet.open(1), 'id', 'n'), [
    { id: 'r1', n: 1 },
    { id: 'r2', n: 2 },
    { id: 'r3', n: 3 },
  ])
})

test('equal files are no new revision; other files are the next, and the records of the store are kept', async (t) => {
  const sheet = await Pushed.make(t)
  await sheet.push()
  const store = await sheet.open(1)
  await store.delete(['r1'], HUMAN)
  assert.equal((await sheet.push()).number, 1)
  const properties = [...PROPERTIES, '{name: more, logicalType: string}']
  const outcome = await sheet.push({ properties, note: 'more' })
  assert.deepEqual([outcome.number, outcome.before?.number, outcome.created], [2, 1, false])
  assert.deepEqual([outcome.records, outcome.contractBefore?.fields.length], [2, 3])
  const revisions = await sheet.revisions()
  assert.equal((await revisions.read(1)).note, null)
  assert.equal((await revisions.read(2)).note, 'more')
  await assert.rejects(revisions.read(3), RecordsError)
})

test('a changed derivation makes computed cells stale, and the result has their number', async (t) => {
  const sheet = await Pushed.make(t)
  await sheet.push()
  const store = await sheet.open(1)
  await store.upsert({
    body: { records: [{ id: 'r1', sum: 7 }] },
    defaultActor: HUMAN,
    ifMatch: null,
  })
  const other = target('sum', ['n'], { sha256: sha256('other'), text: 'other' })
  const files = [{ path: 'derivations/sum.yaml', bytes: Buffer.from('other') }]
  const changed = await sheet.push({ targets: [other], files })
  // Two were never computed, and one was overridden.
  assert.deepEqual(changed.targets, [
    { field: 'sum', derivation: 'sum.yaml', change: 'changed', stale: 0, missing: 0 },
  ])
  const removed = await sheet.push({ targets: [] })
  assert.deepEqual(
    removed.targets.map(({ change }) => change),
    ['removed'],
  )
})

test('a dry run has the same result and leaves nothing behind, for the first push and for later ones', async (t) => {
  const sheet = await Pushed.make(t)
  const { schema } = parseStoreUrl(sheet.url)
  const tried = await sheet.push({ dryRun: true })
  assert.deepEqual([tried.number, tried.created, tried.records], [1, true, 3])
  assert.deepEqual(await sheet.run(`SELECT 1 FROM pg_namespace WHERE nspname = '${schema}'`), [])
  await sheet.push()
  const hash = `SELECT md5(string_agg(t::text, ',')) FROM (SELECT * FROM "$sheet", "$revision", "$target") AS t`
  const before = await sheet.run(hash)
  const properties = [...PROPERTIES, '{name: more, logicalType: string}']
  assert.equal((await sheet.push({ properties, dryRun: true })).number, 2)
  assert.deepEqual(await sheet.run(hash), before)
  assert.deepEqual(await sheet.run('SELECT * FROM records LIMIT 0'), [])
})

test('a push that would make stored records invalid is refused with all errors, and changes nothing', async (t) => {
  const sheet = await Pushed.make(t)
  await sheet.push()
  const broken = ['{name: n, logicalType: string}', '{name: must, logicalType: string, required: true}']
  await assert.rejects(sheet.push({ properties: broken, targets: [] }), (error: unknown) => {
    assert.ok(error instanceof ContractError)
    assert.match(error.message, /"sum" is gone.*"n" was of type integer.*"must" is required, but 3 records/)
    return true
  })
  const revisions = await sheet.revisions()
  assert.equal(await revisions.newest(), 1)
  assert.equal(((await page(await sheet.open(1), 'id', 'n', 'sum')) as readonly object[]).length, 3)
})

test('records that violate the contract stop a first push, which leaves nothing behind', async (t) => {
  const sheet = await Pushed.make(t)
  await writeFile(join(sheet.directory, 'records.jsonl'), '{"id":"a","n":"x"}\n')
  await assert.rejects(sheet.push(), (error: unknown) => {
    assert.ok(error instanceof RecordsError)
    assert.match(error.message, /^records\.jsonl:1: field "n"/)
    return true
  })
  await assert.rejects(PostgresRevisions.open(sheet.url, 5000), SheetError)
})

test('every later query reports a push that has ended', async (t) => {
  const sheet = await Pushed.make(t)
  await sheet.push()
  const revisions = await sheet.revisions()
  let ended = false
  const asking = Array.from({ length: 20 }, async () => {
    while (!ended) await revisions.newest()
  })
  try {
    for (let number = 2; number <= 12; number += 1) {
      await sheet.push({ files: [{ path: 'transport.yaml', bytes: Buffer.from(`# ${number}\n`) }] })
      assert.equal(await revisions.newest(), number)
    }
  } finally {
    ended = true
    await Promise.all(asking)
  }
})

test('each of several concurrent pushes is a complete revision', async (t) => {
  const sheet = await Pushed.make(t)
  const outcomes = await Promise.all(
    ['a', 'b', 'c', 'd'].map((text) =>
      sheet.push({ files: [{ path: 'transport.yaml', bytes: Buffer.from(`# ${text}\n`) }] }),
    ),
  )
  assert.deepEqual(new Set(outcomes.map(({ number }) => number)), new Set([1, 2, 3, 4]))
  assert.deepEqual(outcomes.filter(({ created }) => created).length, 1)
  assert.deepEqual(await sheet.run('SELECT count(*) AS n FROM "$data"'), [{ n: 3 }])
})

test('the definition of an earlier revision cannot be applied again', async (t) => {
  const sheet = await Pushed.make(t)
  await sheet.push()
  const store = await sheet.open(1)
  const properties = [...PROPERTIES, '{name: more, logicalType: string}']
  await sheet.push({ properties })
  await assert.rejects(store.define(definitionOf(1, PROPERTIES)), OutdatedDefinitionError)
  await assert.rejects(sheet.open(1), OutdatedDefinitionError)
  await store.define(definitionOf(2, properties))
  assert.deepEqual(await page(store, 'id', 'more'), [
    { id: 'r1', more: null },
    { id: 'r2', more: null },
    { id: 'r3', more: null },
  ])
})

test('writes must satisfy the present contract, also on a server that has not loaded it yet', async (t) => {
  const sheet = await Pushed.make(t)
  await sheet.push()
  const store = await sheet.open(1)
  const write = (n: number): Promise<unknown> =>
    store.upsert({ body: { records: [{ id: 'r1', n }] }, defaultActor: HUMAN, ifMatch: null })
  await write(100)
  await sheet.push({
    properties: ['{name: n, logicalType: integer, logicalTypeOptions: {maximum: 100}}', SUM],
  })
  await assert.rejects(write(101), ValidationError)
  await write(99)
})

test('without a push there is no sheet, and the error explains how to push one', async (t) => {
  const sheet = await Pushed.make(t)
  await assert.rejects(PostgresRevisions.open(sheet.url, 5000), (error: unknown) => {
    assert.ok(error instanceof SheetError)
    assert.match(error.message, /colophon push/)
    return true
  })
})

test('tables from before revisions existed are migrated, and a push keeps their records', async (t) => {
  const sheet = await Pushed.make(t)
  await sheet.push()
  const { schema } = parseStoreUrl(sheet.url)
  await sheet.run(
    `INSERT INTO "$run" (id, kind, state, error, error_type, actor, request, started_at, active_at)
     SELECT 7, 'materialize', 'failed', 'no', 'OperationError', 'a', jsonb_build_object('targets', jsonb_agg('t' || n % 3), 'limit', 5)::text, '', ''
     FROM generate_series(1, 20000) AS n`,
  )
  for (const table of [
    '$response',
    '$run_body',
    '$deleted_block',
    '$call',
    '$streak',
    '$field_change',
    '$usage',
    '$task',
    '$worker',
    '$host_part',
    '$host',
    '$revision_file',
    '$revision',
  ]) {
    await sheet.run(`DROP TABLE ${quoted(schema)}.${quoted(table)}`)
  }
  await sheet.run('DROP TABLE "$definition_change", "$definition_file", "$definition_text"')
  await sheet.run('DROP INDEX "$run_failure_record", "$failure_alike", "$run_failure_alike"')
  await sheet.run('ALTER TABLE "$failure" DROP COLUMN detail, DROP COLUMN alike')
  const ofRuns = ['beat_at', 'last_key', 'scope', 'levels', 'stopping', 'begun_calls', 'begun_cost']
  for (const column of [
    ...ofRuns,
    'unpriced_calls',
    'left_cells',
    'manual_left',
    'manual_overwritten',
    'last_seq',
    'error_code',
  ]) {
    await sheet.run(`ALTER TABLE "$run" DROP COLUMN ${column}`)
  }
  for (const table of ['$failure', '$run_failure']) {
    await sheet.run(`ALTER TABLE ${quoted(table)} DROP COLUMN response_body, DROP COLUMN reason`)
  }
  await sheet.run('ALTER TABLE "$sheet" DROP COLUMN response_bytes, DROP COLUMN response_limit')
  await sheet.run('ALTER TABLE "$target" DROP COLUMN required, DROP COLUMN blocked')
  await sheet.run(
    'ALTER TABLE "$target" DROP COLUMN sources, DROP COLUMN checked_sources, DROP COLUMN reads, DROP COLUMN changed',
  )
  await sheet.run('ALTER TABLE "$target" DROP COLUMN non_empty')
  await sheet.run(
    'ALTER TABLE "$proposal" DROP COLUMN fields_seq, DROP COLUMN definition, DROP COLUMN decisions',
  )
  await sheet.run('DROP INDEX "$proposal_of_record"')
  await sheet.run('ALTER TABLE "$deleted" DROP COLUMN seq')
  await sheet.run('ALTER TABLE "$proposal_record" DROP COLUMN decided')
  await sheet.run('ALTER TABLE "$failure" DROP COLUMN hash')
  await sheet.run('ALTER TABLE "$run_failure" DROP COLUMN body, DROP COLUMN detail, DROP COLUMN alike')
  await sheet.run('ALTER TABLE "$todo" DROP COLUMN blocked')
  await sheet.run(
    'DROP TABLE "$log_node", "$checkpoint", "$recorded", "$view", "$chart", "$writer", "$written", "$written_field"',
  )
  await sheet.run('ALTER TABLE "$target" DROP COLUMN blocked_stale, DROP COLUMN blocked_failed')
  await sheet.run('DROP INDEX "$todo_known", "$cell_overridden"')
  await sheet.run('DROP TABLE "$review"')
  await sheet.run('ALTER TABLE "$data" ADD COLUMN "$written" json')
  await sheet.run(`UPDATE "$sheet" SET schema_version = 2`)
  await rm(join(sheet.directory, 'records.jsonl'))
  await sheet.run(`INSERT INTO "$failure" (target, record, error, error_type, at)
    VALUES (999, 1, 'GET https://a.example/ä -> 404', 'ServiceError', '')`)
  await assert.rejects(PostgresRevisions.open(sheet.url, 5000), SheetError)
  const outcome = await sheet.push()
  const [failure] = await sheet.run('SELECT alike::text FROM "$failure"')
  const group = failureGroup({ error: 'GET https://a.example/ä -> 404', errorType: 'ServiceError' })
  assert.deepEqual(failure, { alike: String(group) })
  assert.deepEqual([outcome.number, outcome.created, outcome.records], [1, false, 3])
  const { targets, limit, error } = (await (await sheet.open(1)).run('7')) ?? {}
  assert.deepEqual([targets, limit], [['t1', 't2', 't0'], 5])
  assert.deepEqual(error, { type: 'OperationError', code: null, message: 'no' })
})

test('a directory with a store is pushed with all of it, and is unchanged', async (t) => {
  const sheet = await Pushed.make(t)
  const other = await Pushed.make(t)
  await sheet.push()
  const store = await sheet.open(1)
  await store.upsert({ body: { records: [{ id: 'new', sum: 7 }] }, defaultActor: HUMAN, ifMatch: null })
  await rm(join(other.directory, 'records.jsonl'))
  await store.snapshot(other.directory)
  const before = await readFile(join(other.directory, 'provenance.jsonl'), 'utf8')
  const outcome = await other.push()
  assert.deepEqual([outcome.created, outcome.records, outcome.targets], [true, 4, []])
  const copy = await other.open(1)
  assert.deepEqual(await entriesOf(copy, 'new', 'sum'), await entriesOf(store, 'new', 'sum'))
  assert.deepEqual((await copy.status()).targets, (await store.status()).targets)
  assert.equal(await readFile(join(other.directory, 'provenance.jsonl'), 'utf8'), before)
})

test('a push that waits for a long reader does not block other requests, and fails when it takes too long', async (t) => {
  const sheet = await Pushed.make(t)
  await sheet.push()
  const store = await sheet.open(1)
  const database = new Database(parseStoreUrl(sheet.url))
  t.after(() => database.close())
  const more = [...PROPERTIES, '{name: later, logicalType: integer}']
  const grown = [target('sum', ['n']), target('later', ['n'])]
  const pushing = (lockTimeoutMs: number): Promise<PushOutcome> =>
    sheet.push({ properties: more, targets: grown, lockTimeoutMs })

  await database.reading(async (db) => {
    await db.get('SELECT count(*) FROM "$data"')
    let refused: unknown
    let reads = 0
    const push = pushing(1500).catch((error: unknown) => {
      refused = error
    })
    for (; refused === undefined; reads += 1) {
      assert.deepEqual(await page(store, 'n'), [{ n: 1 }, { n: 2 }, { n: 3 }])
      assert.match(
        String(await store.query({ sql: 'SELECT count(*) AS n FROM records', params: [] })),
        /"n":3/,
      )
    }
    await push
    assert.ok(refused instanceof LockTimeoutError)
    assert.match(refused.message, /longer than 1\.5 s: .*try again/)
    // Each of them would have waited for the push, had that waited for the reader.
    assert.ok(reads >= 5, `${reads} reads`)
  })
  assert.equal((await sheet.push({ dryRun: true })).number, 1)

  const waits = await database.reading(async (db) => {
    await db.get('SELECT count(*) FROM "$data"')
    const push = pushing(30_000)
    for (let waiting: unknown; waiting === undefined;) {
      waiting = await database.get(
        `SELECT 1 FROM pg_locks WHERE relation = '"$data"'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted`,
      )
    }
    return { push }
  })
  const outcome = await waits.push
  assert.deepEqual(
    outcome.targets.map(({ field, change, missing }) => ({ field, change, missing })),
    [{ field: 'later', change: 'added', missing: 3 }],
  )
  assert.deepEqual(await sheet.run('SELECT later FROM records LIMIT 1'), [{ later: null }])
})

import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { contractText } from '../../../test/support/contract-with.ts'
import { DatabaseProxy } from '../../../test/support/database-proxy.ts'
import { startPostgres } from '../../../test/support/postgres.ts'
import type { JsonObject } from '../../contract/json/json.ts'
import { parseContract } from '../../contract/odcs/parse-contract.ts'
import { ContractError, LockTimeoutError, RecordsError } from '../../errors/service-error.ts'
import type { TargetDefinition } from '../sheet-store.ts'
import { computed, newRun, NOTHING_ELSE, target } from '../suite/support/test-sheet.ts'
import { PostgresStore } from './postgres-store.ts'
import { SCHEMA_VERSION } from './database/schema.ts'
import { PATIENT_LIMITS } from '../suite/support/patient-limits.ts'
import { parseStoreUrl } from './database/store-url.ts'

const server = await startPostgres()
const PROPERTIES = ['{name: n, logicalType: integer}', '{name: code, logicalType: string, unique: true}']

interface StoreSetup {
  readonly properties?: readonly string[]
  readonly targets?: readonly TargetDefinition[]
  readonly lockTimeoutMs?: number
  readonly directory?: string
}

/** Opens a store as one server does. */
function open(url: string, setup: StoreSetup = {}): Promise<PostgresStore> {
  const { properties = PROPERTIES, targets = [], lockTimeoutMs = 5000, directory = null } = setup
  return PostgresStore.open(url, {
    definition: { contract: parseContract(contractText(properties)), targets },
    directory,
    actor: 'system:import',
    lockTimeoutMs,
    queryLimits: PATIENT_LIMITS,
    onSourceDiffers: () => undefined,
  })
}

/** The stores of several servers on one sheet, closed when the test ends. */
async function servers(t: TestContext, count: number, setup: StoreSetup = {}): Promise<PostgresStore[]> {
  const url = server.freshUrl()
  const stores = await Promise.all(Array.from({ length: count }, () => open(url, setup)))
  t.after(() => Promise.all(stores.map((store) => store.close())))
  return stores
}

function write(store: PostgresStore, ...records: readonly JsonObject[]): Promise<unknown> {
  return store.upsert({ body: { records }, defaultActor: 'human:ann', ifMatch: null })
}

/** A connection beside the store's. */
async function besides(t: TestContext, store: PostgresStore | string): Promise<Client> {
  const url = typeof store === 'string' ? store : urlOf(store)
  const { connectionString, schema } = parseStoreUrl(url)
  const client = new Client({ connectionString, options: `-c search_path=${schema}` })
  client.on('error', () => undefined)
  await client.connect()
  t.after(() => client.end())
  return client
}

const URLS = new WeakMap<PostgresStore, string>()

function urlOf(store: PostgresStore): string {
  const url = URLS.get(store)
  assert.ok(url !== undefined)
  return url
}

async function openAlone(t: TestContext, setup: StoreSetup = {}): Promise<PostgresStore> {
  const url = server.freshUrl()
  const store = await open(url, setup)
  URLS.set(store, url)
  t.after(() => store.close())
  return store
}

test('several servers that open a new sheet at once create it once', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'colophon-shared-'))
  t.after(() => rm(directory, { recursive: true }))
  await writeFile(join(directory, 'records.jsonl'), '{"id":"a","n":1}\n{"id":"b","n":2}\n')
  const stores = await servers(t, 4, { directory })
  for (const store of stores) assert.equal((await store.status()).total, 2)
  assert.equal((await stores[0]?.history())?.last, 1)
})

test('D34: over all servers, lines are numbered without gaps, and each record has its own key', async (t) => {
  const stores = await servers(t, 3)
  await Promise.all(
    stores.flatMap((store, which) =>
      Array.from({ length: 100 }, (_, number) => write(store, { id: `${which}-${number}`, n: number })),
    ),
  )
  const [store] = stores as [PostgresStore]
  assert.deepEqual(await store.history().then(({ last }) => last), 300)
  const { total, lastKey } = await store.status()
  assert.deepEqual([total, lastKey], [300, 300])
  const keys = await store.recordKeys(stores.flatMap((_, which) => [`${which}-0`, `${which}-99`]))
  assert.equal(new Set(keys.values()).size, 6)
})

test('D13: of several servers that write one unique value at once, one succeeds', async (t) => {
  const stores = await servers(t, 4)
  const results = await Promise.allSettled(
    stores.flatMap((store, which) => [
      write(store, { id: `a${which}`, code: 'x' }),
      write(store, { id: `b${which}`, code: 'x' }),
    ]),
  )
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
  assert.equal((await stores[0]?.status())?.total, 1)
})

test('D9: a contract that one server applies is in force on the others', async (t) => {
  const [one, two] = (await servers(t, 2)) as [PostgresStore, PostgresStore]
  await write(one, { id: 'a', n: 1 })
  await write(two, { id: 'b', n: 2 })
  const contract = parseContract(contractText([...PROPERTIES, '{name: rate, logicalType: number}']))
  await one.define({ contract, targets: [target('rate', ['n'])] })
  // The other one does not know the field yet, and keeps the states of its cells all the same.
  await write(two, { id: 'c', n: 3 }, { id: 'a', n: 5 })
  assert.equal((await one.status()).targets[0]?.missing, 3)
  assert.equal((await two.status()).targets[0]?.missing, 3)
})

test('D9: a field with a changed type is read with that type by a server that has read it before', async (t) => {
  const [one, two] = (await servers(t, 2)) as [PostgresStore, PostgresStore]
  await write(one, { id: 'a', n: 1 })
  const names = ['id', 'n']
  assert.equal(String((await two.record('a', names))?.json), '{"id":"a","n":1}')
  await write(two, { id: 'a', n: 2 })
  await one.delete(['a'], 'human:ann')
  const contract = parseContract(contractText(['{name: n, logicalType: string}']))
  for (const store of [one, two]) await store.define({ contract, targets: [] })
  await write(one, { id: 'a', n: 'x' })
  await write(two, { id: 'a', n: 'y' })
  assert.equal(String((await two.record('a', names))?.json), '{"id":"a","n":"y"}')
})

test('D31: one server at a time has the run lock, which is free again when its connection is lost', async (t) => {
  const [one, two] = (await servers(t, 2)) as [PostgresStore, PostgresStore]
  const held = await one.lockRun(1000, new AbortController().signal)
  await assert.rejects(two.lockRun(20, new AbortController().signal), LockTimeoutError)
  const controller = new AbortController()
  const waiting = two.lockRun(30_000, controller.signal)
  controller.abort(new Error('enough'))
  await assert.rejects(waiting, /enough/)
  const next = two.lockRun(30_000, new AbortController().signal)
  held.release()
  ;(await next).release()
  ;(await one.lockRun(30_000, new AbortController().signal)).release()
})

test('D31: a run that has lost its lock stores nothing more', async (t) => {
  const targets = [target('code', ['n'])]
  const store = await openAlone(t, { targets })
  await write(store, { id: 'a', n: 1 })
  const run = await store.startRun(newRun())
  const lock = await store.lockRun(1000, new AbortController().signal)
  await store.runLocked(run, { total: 1, absent: [], manual: 0 })
  const query = {
    targets: ['code'],
    inputs: ['n'],
    force: false,
    state: null,
    after: null,
    limit: 1,
    only: null,
  }
  const [item] = await store.work(query)
  const cell = item?.cells[0]
  assert.ok(item && cell)
  const commit = (value: string): Promise<unknown> =>
    store.commitCells({
      actor: 'agent:x',
      run,
      progress: NOTHING_ELSE,
      cells: [
        {
          key: item.key,
          target: 'code',
          version: cell.version,
          sha256: targets[0]?.sha256 ?? '',
          result: computed(value, 'h'),
        },
      ],
      cache: [],
    })
  const client = await besides(t, store)
  await client.query("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted")
  const another = await open(urlOf(store), { targets })
  t.after(() => another.close())
  const taken = await another.lockRun(30_000, new AbortController().signal)
  await assert.rejects(commit('late'), (error) => {
    assert.ok(error instanceof RecordsError)
    assert.match(error.message, /run lock/)
    return true
  })
  assert.equal(String((await store.record('a', ['code']))?.json), '{"code":null}')
  taken.release()
  lock.release()
})

test('a store of a later version is refused', async (t) => {
  const store = await openAlone(t)
  const client = await besides(t, store)
  await client.query('UPDATE "$sheet" SET schema_version = $1', [SCHEMA_VERSION + 1])
  await assert.rejects(open(urlOf(store)), (error) => {
    assert.ok(error instanceof RecordsError)
    assert.match(error.message, /later version/)
    return true
  })
  await client.query('UPDATE "$sheet" SET schema_version = $1', [SCHEMA_VERSION])
})

test('a field that PostgreSQL has no column for is refused, and nothing is made', async (t) => {
  const url = server.freshUrl()
  const long = 'a'.repeat(64)
  for (const name of [long, 'xmin']) {
    await assert.rejects(open(url, { properties: [`{name: ${name}, logicalType: string}`] }), (error) => {
      assert.ok(error instanceof ContractError)
      assert.match(error.message, new RegExp(`"${name}"`))
      return true
    })
  }
  const client = await besides(t, url)
  const { schema } = parseStoreUrl(url)
  assert.equal((await client.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema])).rowCount, 0)
  const store = await open(url, {
    properties: [`{name: ${long.slice(1)}, logicalType: string, unique: true}`],
  })
  t.after(() => store.close())
})

test('a write that waits for the sheet for too long is a LockTimeoutError, and changes nothing', async (t) => {
  const store = await openAlone(t, { lockTimeoutMs: 100 })
  const client = await besides(t, store)
  await client.query('BEGIN; SELECT FROM "$sheet" FOR UPDATE')
  await assert.rejects(write(store, { id: 'a' }), LockTimeoutError)
  await client.query('ROLLBACK')
  await write(store, { id: 'b' })
  assert.equal((await store.status()).total, 1)
})

test('a write whose connection is lost before it is stored is carried out on another, once', async (t) => {
  const store = await openAlone(t)
  await write(store, { id: 'a' })
  const client = await besides(t, store)
  await client.query('BEGIN; SELECT FROM "$sheet" FOR UPDATE')
  const waiting = write(store, { id: 'b' })
  await killWaiting(client)
  await client.query('ROLLBACK')
  await waiting
  await write(store, { id: 'c' })
  assert.equal(String(await idsOf(store)), '[{"id":"a"},{"id":"b"},{"id":"c"}]')
  assert.equal((await store.history()).last, 3)
})

test('a write whose connections are lost again and again is a RecordsError, and the next goes on', async (t) => {
  const store = await openAlone(t)
  const client = await besides(t, store)
  await client.query('BEGIN; SELECT FROM "$sheet" FOR UPDATE')
  const lost = assert.rejects(write(store, { id: 'b' }), (error) => {
    assert.ok(error instanceof RecordsError, String(error))
    assert.match(error.message, /database/)
    return true
  })
  // A transaction sees the state at its first read.
  const killer = await besides(t, store)
  const first = await killWaiting(killer)
  await killWaiting(killer, first)
  await lost
  await client.query('ROLLBACK')
  await write(store, { id: 'c' })
  assert.equal(String(await idsOf(store)), '[{"id":"c"}]')
})

test('reads continue after all idle connections are lost', async (t) => {
  const store = await openAlone(t)
  await write(store, { id: 'a' })
  await Promise.all(Array.from({ length: 8 }, () => store.status()))
  const client = await besides(t, store)
  await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()')
  assert.equal((await store.status()).total, 1)
  await write(store, { id: 'b' })
  assert.equal(String(await idsOf(store)), '[{"id":"a"},{"id":"b"}]')
})

test('so they do if no loss is noticed before a connection is used', async (t) => {
  const proxy = await DatabaseProxy.start(t, server.freshUrl())
  const store = await open(proxy.url)
  t.after(() => store.close())
  await write(store, { id: 'a' })
  await Promise.all(Array.from({ length: 8 }, () => store.status()))
  proxy.endWhenUsed()
  assert.equal((await store.status()).total, 1)
  await write(store, { id: 'b' })
  assert.equal(String(await idsOf(store)), '[{"id":"a"},{"id":"b"}]')
})

/** Ends the connection that waits for the row of `$sheet`, once there is one beside `known`; answers with its process. */
async function killWaiting(client: Client, known = 0): Promise<number> {
  const kill = `SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND query LIKE '%"$sheet"%' AND pid <> ALL (ARRAY[pg_backend_pid(), $1])`
  for (;;) {
    const [killed] = (await client.query<{ pid: number }>(kill, [known])).rows
    if (killed !== undefined) return killed.pid
  }
}

async function idsOf(store: PostgresStore): Promise<Buffer> {
  const page = await store.page({ fields: ['id'], limit: 9, after: null, filter: null, sort: [], skip: 0 })
  return page.records
}

test('of operations that wait together, a failing one does not affect the others', async (t) => {
  const store = await openAlone(t)
  const results = await Promise.allSettled([
    write(store, { id: 'a', code: 'x' }),
    write(store, { id: 'b', code: 'x' }),
    write(store, { id: 'c', n: 'no number' }),
    store.startRun(newRun()),
    store.endRun('77', {
      state: 'finished',
      error: null,
      cancelledBy: null,
      progress: {
        done: 0,
        total: 0,
        materialized: 0,
        failed: 0,
        manualLeft: 0,
        manualOverwritten: 0,
        ...NOTHING_ELSE,
      },
    }),
    write(store, { id: 'a', code: 'y' }, { id: 'd', code: 'x' }),
    store.delete(['a'], 'human:ann'),
  ])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
  const page = await store.page({
    fields: ['id', 'code'],
    limit: 9,
    after: null,
    filter: null,
    sort: [],
    skip: 0,
  })
  assert.equal(String(page.records), '[{"id":"d","code":"x"}]')
  assert.equal((await store.history()).last, 4)
})

test('an unavailable database is a RecordsError without the password', async () => {
  for (const url of [
    'postgres://u:secret@127.0.0.1:1/d',
    server.url('s', { database: 'nowhere' }),
    server.url('s', { user: 'nobody' }),
  ]) {
    await assert.rejects(open(url), (error) => {
      assert.ok(error instanceof RecordsError)
      assert.doesNotMatch(error.message, /secret/)
      return true
    })
  }
})

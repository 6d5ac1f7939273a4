import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { contractText } from '../../../test/support/contract-with.ts'
import { startPostgres } from '../../../test/support/postgres.ts'
import type { JsonObject } from '../../contract/json/json.ts'
import { parseContract } from '../../contract/odcs/parse-contract.ts'
import type { FieldChanges } from '../field-changes.ts'
import { PATIENT_LIMITS } from '../suite/support/patient-limits.ts'
import { parseStoreUrl } from './database/store-url.ts'
import { PostgresStore } from './postgres-store.ts'

const server = await startPostgres()

/** A name of the greatest length in PostgreSQL, so that a longer one cannot be made of it. */
const LONG = 'n'.repeat(63)
const FIELDS = [
  '{name: at, logicalType: timestamp, unique: true}',
  '{name: tags, logicalType: array}',
  '{name: day, logicalType: date}',
  `{name: ${LONG}, logicalType: object}`,
  '{name: note, logicalType: string}',
]
const RECORDS: readonly JsonObject[] = [
  {
    id: 'a',
    at: '2024-01-01T00:00:00+02:00',
    tags: [{ bb: 1, a: 2 }],
    day: '0000-02-29',
    [LONG]: { z: { yy: 1, x: 2 }, a: null },
    note: 'A',
  },
  { id: 'b', at: '2024-01-01T00:00:00.500Z', tags: [], day: '2024-01-01', [LONG]: { a: 1 }, note: null },
  { id: 'c', at: null, tags: null, day: null, [LONG]: null, note: 'C' },
]

async function openStore(
  t: TestContext,
  url: string,
  {
    fields = FIELDS,
    directory = null,
  }: { readonly fields?: readonly string[]; readonly directory?: string | null } = {},
): Promise<PostgresStore> {
  const store = await PostgresStore.open(url, {
    definition: { contract: parseContract(contractText(fields)), targets: [] },
    directory,
    actor: 'system:import',
    lockTimeoutMs: 5000,
    queryLimits: PATIENT_LIMITS,
    onSourceDiffers: () => undefined,
  })
  t.after(() => store.close())
  return store
}

/** Opens a new store with the records, as a server that creates it from files does. */
async function storeOfFiles(t: TestContext, url: string): Promise<PostgresStore> {
  const directory = mkdtempSync(join(tmpdir(), 'colophon-written-'))
  t.after(() => rm(directory, { recursive: true }))
  await writeFile(
    join(directory, 'records.jsonl'),
    RECORDS.map((record) => `${JSON.stringify(record)}\n`).join(''),
  )
  return openStore(t, url, { directory })
}

async function besides(t: TestContext, url: string): Promise<Client> {
  const { connectionString, schema } = parseStoreUrl(url)
  const client = new Client({ connectionString, options: `-c search_path=${schema}` })
  await client.connect()
  t.after(() => client.end())
  return client
}

/** Returns the records with these fields as JSON, now or at a line of the log. */
async function read(store: PostgresStore, fields: readonly string[], seq?: number): Promise<string> {
  const query = { fields: ['id', ...fields], limit: 10, after: null }
  const { records } =
    seq === undefined
      ? await store.page({ ...query, filter: null, sort: [], skip: 0 })
      : await store.pageAsOf({ ...query, seq })
  // Not as text: jsonb has spaces.
  return JSON.stringify(JSON.parse(String(records)))
}

/** Returns the records with these names for the fields of the test, in its order; undefined leaves a field out. */
function expected(names: readonly (string | undefined)[]): string {
  const before = ['at', 'tags', 'day', LONG, 'note']
  return JSON.stringify(
    RECORDS.map((record) =>
      Object.fromEntries([
        ['id', record['id']],
        ...before.flatMap((name, index) => {
          const after = names[index]
          return after === undefined ? [] : [[after, record[name] ?? null]]
        }),
      ]),
    ),
  )
}

async function define(
  store: PostgresStore,
  fields: readonly string[],
  changes: Partial<Pick<FieldChanges, 'renamed' | 'removed' | 'converted' | 'restored'>>,
): Promise<void> {
  const none = { renamed: new Map(), removed: new Map(), converted: new Map() }
  await store.define({
    contract: parseContract(contractText(fields)),
    targets: null,
    changes: { actor: 'human:ann', ...none, ...changes },
  })
}

const RENAMED = FIELDS.map((field) => field.replace(/name: (\w)\w*,/, 'name: $1x,'))
const NAMES = ['ax', 'tx', 'dx', 'nx', 'ny']
RENAMED[4] = '{name: ny, logicalType: string}'
const RENAMES = new Map([
  ['at', 'ax'],
  ['tags', 'tx'],
  ['day', 'dx'],
  [LONG, 'nx'],
  ['note', 'ny'],
])

test('a rename touches no row, and values stay as they were written', async (t) => {
  const url = server.freshUrl()
  const store = await storeOfFiles(t, url)
  const client = await besides(t, url)
  const rows = async (): Promise<unknown> =>
    (await client.query('SELECT "$seq", ctid::text, xmin::text FROM "$data" ORDER BY "$seq"')).rows
  const before = await rows()
  const { last } = await store.history()
  await define(store, RENAMED, { renamed: RENAMES })
  assert.equal(await read(store, NAMES), expected(NAMES))
  // Two fields of one type take the name of each other in turn, and a removed one returns.
  const swapped = RENAMED.map((field) =>
    field.replace('name: nx', 'name: ny2').replace('name: dx', 'name: nx'),
  )
  await define(store, swapped, {
    renamed: new Map([
      ['nx', 'ny2'],
      ['dx', 'nx'],
    ]),
  })
  await define(
    store,
    swapped.filter((field) => !field.includes('ax')),
    { removed: new Map([['ax', 2]]) },
  )
  const present = [undefined, 'tx', 'nx', 'ny2', 'ny']
  const names = present.filter((name) => name !== undefined)
  assert.equal(await read(store, names), expected(present))
  assert.equal(await read(store, names, last), expected(present))
  const removal = (await store.history()).last
  await define(store, swapped, { restored: new Map([['ax', removal]]) })
  assert.equal(await read(store, ['ax', ...names]), expected(['ax', ...names]))
  assert.deepEqual(await rows(), before)
})

test('servers with the names of before read nothing wrong after a rename, and those with the new ones write', async (t) => {
  const url = server.freshUrl()
  const store = await storeOfFiles(t, url)
  const other = await openStore(t, url)
  await define(store, RENAMED, { renamed: RENAMES })
  await assert.rejects(read(other, ['at']))
  await define(other, RENAMED, {})
  const value = '2024-05-05T12:00:00-07:00'
  // Equal times that were written in different ways are different values of a unique field.
  const body = {
    records: [
      { id: 'a', ax: value },
      { id: 'd', ax: '2024-05-05T19:00:00Z' },
    ],
  }
  await other.upsert({ body, defaultActor: 'human:bob', ifMatch: null })
  for (const each of [store, other]) {
    const found = JSON.parse(await read(each, ['ax', 'nx'])) as JsonObject[]
    assert.deepEqual(
      found.map(({ id, ax, nx }) => [id, ax, JSON.stringify(nx)]),
      [
        ['a', value, JSON.stringify(RECORDS[0]?.[LONG])],
        ['b', RECORDS[1]?.['at'], '{"a":1}'],
        ['c', null, 'null'],
        ['d', '2024-05-05T19:00:00Z', 'null'],
      ],
    )
  }
  const same = { records: [{ id: 'e', ax: value }] }
  await assert.rejects(other.upsert({ body: same, defaultActor: 'human:bob', ifMatch: null }), /ax/)
})

test('a store of a version that had these values in one column of objects is read as it was', async (t) => {
  const url = server.freshUrl()
  const store = await storeOfFiles(t, url)
  const { last } = await store.history()
  const without = FIELDS.filter((field) => !field.includes('tags'))
  await define(store, without, { removed: new Map([['tags', 2]]) })
  const removal = (await store.history()).last
  const client = await besides(t, url)
  // As version 23 made the table.
  await client.query(`
    ALTER TABLE "$data" ADD COLUMN "$written" json;
    UPDATE "$data" SET "$written" =
      '{"at":"2024-01-01T00:00:00+02:00","day":"0000-02-29","${LONG}":{"z":{"yy":1,"x":2},"a":null},"$kept_2_0":[{"bb":1,"a":2}]}'
      WHERE id = 'a';`)
  const { rows } = await client.query(
    `SELECT attname FROM pg_attribute WHERE attrelid = '"$data"'::regclass AND attname LIKE '$written_%' AND NOT attisdropped`,
  )
  assert.equal(rows.length, 4)
  for (const { attname } of rows as readonly { attname: string }[])
    await client.query(`ALTER TABLE "$data" DROP COLUMN "${attname}"`)
  await client.query(
    `DROP INDEX "$todo_known", "$todo_blocked", "$cell_overridden", "$proposal_of_record"; DROP TABLE "$log_node", "$checkpoint", "$review", "$view", "$chart", "$writer", "$written", "$written_field", "$recorded";
     ALTER TABLE "$target" DROP COLUMN blocked_stale, DROP COLUMN blocked_failed;
     ALTER TABLE "$failure" DROP COLUMN detail, DROP COLUMN alike; ALTER TABLE "$run_failure" DROP COLUMN alike;
     ALTER TABLE "$proposal" DROP COLUMN decisions; ALTER TABLE "$proposal_record" DROP COLUMN decided;
     ALTER TABLE "$deleted" DROP COLUMN seq`,
  )
  await client.query('UPDATE "$sheet" SET schema_version = 23')
  const migrated = await openStore(t, url, { fields: without })
  const names = ['at', 'day', LONG, 'note']
  assert.equal(await read(migrated, names), expected(['at', undefined, 'day', LONG, 'note']))
  assert.equal(await read(migrated, names, last), expected(['at', undefined, 'day', LONG, 'note']))
  await define(migrated, FIELDS, { restored: new Map([['tags', removal]]) })
  assert.equal(
    await read(migrated, ['at', 'tags', 'day', LONG, 'note']),
    expected(['at', 'tags', 'day', LONG, 'note']),
  )
  const kept = await client.query(
    `SELECT attname FROM pg_attribute WHERE attrelid = '"$data"'::regclass AND attname = '$written' AND NOT attisdropped`,
  )
  assert.deepEqual(kept.rows, [])
})

test('a contract with more columns than a table can have is refused with their number', async (t) => {
  const fields = Array.from({ length: 799 }, (_, index) => `{name: f${index}, logicalType: array}`)
  await assert.rejects(
    openStore(t, server.freshUrl(), { fields }),
    /has 800 properties, which take 1599 columns in PostgreSQL .* at most 1598/,
  )
  await openStore(t, server.freshUrl(), { fields: fields.slice(1) })
})

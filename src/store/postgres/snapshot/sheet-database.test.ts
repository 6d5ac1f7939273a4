import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { startPostgres } from '../../../../test/support/postgres.ts'
import type { JsonObject } from '../../../contract/json/json.ts'
import { RecordsError } from '../../../errors/service-error.ts'
import { wholeLine } from '../../../provenance/log-line.ts'
import type { SheetStore } from '../../sheet-store.ts'
import { PATIENT_LIMITS } from '../../suite/support/patient-limits.ts'
import { SqliteStore } from '../../sqlite/sqlite-store.ts'
import { AGENT, HUMAN, newRun, target, TestSheet, type OpenStore } from '../../suite/support/test-sheet.ts'
import { SheetDatabase } from './sheet-database.ts'
import { adoptStore } from '../definition/create-store.ts'
import { Database } from '../database/database.ts'
import { copyStore } from './snapshot.ts'
import { parseStoreUrl, type StoreLocation } from '../database/store-url.ts'

const openSqlite: OpenStore = (directory, { contract, targets, ...options }): Promise<SheetStore> =>
  SqliteStore.open(directory, {
    ...options,
    definition: { contract, targets },
    queryLimits: PATIENT_LIMITS,
  })

const PROPERTIES = [
  '{name: title, logicalType: string}',
  '{name: code, logicalType: string, unique: true}',
  '{name: tags, logicalType: array}',
  '{name: thing, logicalType: object}',
  '{name: at, logicalType: timestamp}',
  '{name: day, logicalType: date}',
  '{name: hour, logicalType: time}',
  '{name: ok, logicalType: boolean}',
  '{name: whole, logicalType: integer}',
  '{name: rate, logicalType: number}',
]
const RATE = target('rate', ['title'])

/** Values that PostgreSQL would not give back as they were written, and some that it would. */
const IMPORTED: readonly JsonObject[] = [
  {
    id: 'odd',
    code: 'x',
    tags: ['ü', null, { z: 1, a: [5e-324, { y: 1, x: 2 }] }],
    thing: { zz: 1, b: { '2': 1, '1': '\u2028' }, constructor: null },
    at: '2024-03-10T14:22:35.1234567+02:00',
    day: '0000-01-01',
    hour: '23:59:60Z',
    ok: false,
    whole: -(2 ** 53) + 1,
    rate: 1e21,
  },
  {
    id: 'plain',
    tags: [],
    thing: {},
    at: '2024-03-10T14:22:35Z',
    day: '2024-02-29',
    ok: true,
    rate: 0.1 + 0.2,
  },
]

/** A sheet with records, cells in every state, runs, failures, a revert and proposals. */
async function livelySheet(t: TestContext): Promise<TestSheet> {
  const sheet = await TestSheet.make(t, openSqlite, {
    properties: PROPERTIES,
    targets: [RATE],
    records: IMPORTED,
  })
  await sheet.write([{ id: 'z', title: 'Z' }, { id: 'gone' }, { id: 'b', title: 'B\u0001"' }, { id: 'a' }])
  await sheet.compute('z', 'rate', 1.5)
  await sheet.compute('b', 'rate', -0)
  await sheet.fail('a', 'rate', 'GET https://a.example/ -> 503')
  await sheet.store.delete(['gone'], HUMAN)
  await sheet.write([{ id: 'b', title: 'B again', code: 'y' }], AGENT)
  const { proposals } = sheet.store
  const change = { records: [{ id: 'b', title: 'C' }, { id: 'new' }] }
  const [accepted] = [await proposals.propose({ change, actor: AGENT, note: 'a note' })]
  await proposals.accept({ id: accepted, actor: HUMAN })
  await proposals.propose({ change: { ids: ['z'] }, actor: AGENT, note: null })
  const computed = await sheet.latest('z', 'rate')
  const entries = [{ seq: Number(computed?.['seq']), recordId: 'z', field: 'rate' }]
  const run = await sheet.store.startRun(newRun({ kind: 'revert', recordIds: ['z'] }))
  await sheet.store.revert({ actor: HUMAN, entries, run })
  await sheet.close()
  return sheet
}

/** Takes a sheet's `sheet.db` over into a new schema. */
async function adopt(t: TestContext, directory: string): Promise<{ location: StoreLocation; db: Database }> {
  const location = parseStoreUrl((await startPostgres()).freshUrl())
  const db = new Database(location)
  t.after(() => db.close())
  const { schema } = location
  const path = join(directory, 'sheet.db')
  await db.writing(5000, (transaction) => adoptStore(transaction, { schema, path, lockTimeoutMs: 1000 }))
  return { location, db }
}

/** All rows of all tables, without what is a store's own. */
function tablesOf(directory: string): Record<string, unknown> {
  const db = new DatabaseSync(join(directory, 'sheet.db'), { readOnly: true })
  try {
    const names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all()
    const tables = names.map(({ name }) => {
      const rows = db.prepare(`SELECT * FROM "${String(name)}"`).all()
      const shared = rows.map((row) => Object.entries(row).flatMap(sharedColumn))
      return [String(name), shared] as const
    })
    return Object.fromEntries(tables)
  } finally {
    db.close()
  }
}

/** A column but for what is a store's own; a line as the file has it. */
function sharedColumn([name, value]: [string, SQLOutputValue]): unknown[] {
  if (OWN.test(name)) return []
  return [[name, name === 'line' ? wholeLine(String(value)) : value]]
}

const OWN = /^(cursor_key|source_.*|mirror_.*)$/

async function emptyDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-adopt-'))
  t.after(() => rm(directory, { recursive: true }))
  return directory
}

test('a sheet copied from SQLite to PostgreSQL and back has the same rows in every table', async (t) => {
  const sheet = await livelySheet(t)
  const { location } = await adopt(t, sheet.directory)
  const directory = await emptyDirectory(t)
  const snapshot = await copyStore(location, directory)
  assert.deepEqual((await readdir(directory)).toSorted(), ['provenance.jsonl', 'records.jsonl', 'sheet.db'])
  assert.deepEqual(tablesOf(directory), tablesOf(sheet.directory))
  const log = await readFile(join(directory, 'provenance.jsonl'), 'utf8')
  assert.equal(log, await readFile(join(sheet.directory, 'provenance.jsonl'), 'utf8'))
  assert.equal(snapshot.lastSeq, log.split('\n').length - 1)
  const [odd] = (await readFile(join(directory, 'records.jsonl'), 'utf8')).split('\n')
  assert.deepEqual(JSON.parse(odd ?? ''), { title: null, ...IMPORTED[0] })
})

test('a store that was copied from PostgreSQL opens like any other in SQLite', async (t) => {
  const sheet = await livelySheet(t)
  const { location } = await adopt(t, sheet.directory)
  const directory = await emptyDirectory(t)
  await copyStore(location, directory)
  const copy = await openSqlite(directory, {
    contract: sheet.contract,
    targets: [RATE],
    actor: HUMAN,
    lockTimeoutMs: 1000,
    onSourceDiffers: () => assert.fail('records.jsonl counts as another than was imported'),
  })
  t.after(() => copy.close())
  await copy.upsert({ body: { records: [{ id: 'later' }] }, defaultActor: HUMAN, ifMatch: null })
  const { total, targets } = await copy.status()
  assert.equal(total, 7)
  assert.deepEqual(
    targets.map(({ fresh, stale, missing, failed, overridden }) => [
      fresh,
      stale,
      missing,
      failed,
      overridden,
    ]),
    [[0, 1, 3, 1, 2]],
  )
})

test('numbering continues after a copy', async (t) => {
  const sheet = await livelySheet(t)
  const { db } = await adopt(t, sheet.directory)
  const version = await db.get(
    `INSERT INTO "$derivation" (file, sha256, text, at) VALUES ('a.yaml', '', '', '') RETURNING number`,
  )
  assert.equal(version?.['number'], 2)
  const counts = await db.get(
    'SELECT last_record, last_seq, (SELECT max(seq) FROM "$provenance") AS log FROM "$sheet"',
  )
  assert.deepEqual([counts?.['last_record'], counts?.['last_seq']], [7, counts?.['log']])
})

test('a log from before the store is copied too, whatever its records were called', async (t) => {
  const common = {
    at: '2026-01-01T00:00:00.000Z',
    actor: HUMAN,
    source: 'write',
    values: { title: 'x\0' },
    previous: {},
  }
  const log = ['plain', 'nul\0', '\ud800'].map((id, index) => ({ seq: index + 1, record_id: id, ...common }))
  const sheet = await TestSheet.make(t, openSqlite, { properties: PROPERTIES, log })
  await sheet.close()
  const { db } = await adopt(t, sheet.directory)
  const lines = await db.all('SELECT line FROM "$provenance" ORDER BY seq')
  assert.deepEqual(
    lines.map(({ line }) => JSON.parse(String(line)) as unknown),
    log,
  )
})

test('a file that is not a store is refused, and is unchanged', async (t) => {
  const directory = await emptyDirectory(t)
  const path = join(directory, 'sheet.db')
  await writeFile(path, 'not a database, but long enough to be looked at as one'.repeat(20))
  await assert.rejects(SheetDatabase.open(path, 100), RecordsError)
  assert.match(await readFile(path, 'utf8'), /^not a database/)
})

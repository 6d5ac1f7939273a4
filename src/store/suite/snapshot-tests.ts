import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import type { SheetStore } from '../sheet-store.ts'
import {
  AGENT,
  entriesOf,
  FIRST_PAGE,
  HUMAN,
  target,
  TestSheet,
  type OpenStore,
} from './support/test-sheet.ts'

const PROPERTIES = [
  '{name: title, logicalType: string}',
  '{name: tags, logicalType: array}',
  '{name: rate, logicalType: number}',
]
const RATE = target('rate', ['title'])

async function emptyDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-snapshot-'))
  t.after(() => rm(directory, { recursive: true }))
  return directory
}

/** A sheet with an imported record, written and deleted ones, and cells in every state. */
async function livelySheet(t: TestContext, open: OpenStore): Promise<TestSheet> {
  const sheet = await TestSheet.make(t, open, {
    properties: PROPERTIES,
    targets: [RATE],
    records: [{ id: 'imported', title: 'I', tags: ['ü', null], rate: 7 }],
  })
  await sheet.write([
    { id: 'z', title: 'Z' },
    { id: 'gone' },
    { id: 'b', title: 'B' },
    { id: 'a', title: 'A' },
  ])
  const fromFile = ['n', 'm'].map((id) => ({ id, title: id.toUpperCase() }))
  await sheet.importRecords(fromFile, await sheet.importRun())
  await sheet.compute('z', 'rate', 1.5)
  await sheet.compute('b', 'rate', 2)
  await sheet.fail('a', 'rate', 'GET https://a.example/ -> 503')
  await sheet.store.delete(['gone'], HUMAN)
  await sheet.write([{ id: 'b', title: 'B again' }], AGENT)
  const usage = [{ key: 'used', amounts: { input: 3 } }]
  await sheet.store.commitCells({ ...(await sheet.commitOf()), usage })
  const state = { conditions: [{ field: 'title', is: 'filled' }], sql: null, sort: ['-rate'], columns: {} }
  await sheet.store.views.save({ id: null, name: 'Ürgent', state, actor: HUMAN })
  const chart = { group: 'title', split: null, total: 'rate', period: 'day' } as const
  await sheet.store.charts.save({ id: null, name: 'Ürgent', state: chart, actor: HUMAN })
  return sheet
}

/** Returns all that can be read of a store. */
async function allOf(store: SheetStore): Promise<unknown> {
  const fields = ['id', 'title', 'tags', 'rate']
  const { records } = await store.page({ ...FIRST_PAGE, fields, limit: 100 })
  const ids = ['imported', 'z', 'gone', 'b', 'a', 'n', 'm']
  const keys = await store.recordKeys(ids)
  return {
    records: JSON.parse(String(records)),
    status: await store.status(),
    history: await store.history(),
    past: JSON.parse(String((await store.pageAsOf({ fields, limit: 100, after: null, seq: 2 })).records)),
    cells: await Promise.all(
      ids.flatMap((id) => fields.slice(1).map((field) => entriesOf(store, id, field))),
    ),
    failure: await store.cellFailure(keys.get('a') ?? 0, 'rate'),
    versions: await store.derivationVersions('rate.yaml'),
    runs: await store.runs({ before: null, limit: 10 }),
    usage: await store.usage('used'),
    views: await store.views.list(),
    charts: await store.charts.list(),
  }
}

/** Tests of copying the store, and of opening the copy elsewhere. */
export function testSnapshots(openStore: OpenStore): void {
  suite('snapshots', () => {
    test('a copy has the same records in the same order, states, history and runs', async (t) => {
      const sheet = await livelySheet(t, openStore)
      const directory = await emptyDirectory(t)
      const snapshot = await sheet.store.snapshot(directory)
      assert.deepEqual(
        { records: snapshot.records, contractText: snapshot.contractText },
        { records: 6, contractText: sheet.contract.text },
      )
      let differs = 0
      const copy = await openStore(directory, {
        contract: sheet.contract,
        targets: [RATE],
        actor: 'system:import',
        lockTimeoutMs: 5000,
        onSourceDiffers: () => {
          differs += 1
        },
      })
      try {
        assert.deepEqual(await allOf(copy), await allOf(sheet.store))
        assert.equal(differs, 0, 'records.jsonl counts as another than was imported')
        assert.equal((await copy.history()).last, snapshot.lastSeq)
        assert.notDeepEqual(copy.cursorKey, sheet.store.cursorKey)
        await copy.upsert({ body: { records: [{ id: 'new' }] }, defaultActor: HUMAN, ifMatch: null })
        assert.equal((await copy.status()).total, 7)
        assert.equal((await sheet.store.status()).total, 6)
      } finally {
        await copy.close()
      }
    })

    test('beside it are the records in creation order, and the log of the sheet', async (t) => {
      const sheet = await livelySheet(t, openStore)
      const directory = await emptyDirectory(t)
      await sheet.store.snapshot(directory)
      const lines = (await readFile(join(directory, 'records.jsonl'), 'utf8')).split('\n')
      assert.equal(lines.pop(), '')
      assert.deepEqual(
        lines.map((line) => JSON.parse(line) as unknown),
        await sheet.all(),
      )
      assert.equal(await readFile(join(directory, 'provenance.jsonl'), 'utf8'), await sheet.logText())
    })

    test('it is of one moment, despite concurrent writes', async (t) => {
      const sheet = await TestSheet.make(t, openStore, { properties: PROPERTIES })
      const directory = await emptyDirectory(t)
      await sheet.write([{ id: 'first' }])
      const [snapshot] = await Promise.all([
        sheet.store.snapshot(directory),
        ...Array.from({ length: 200 }, (_, number) => sheet.write([{ id: `w${number}` }])),
      ])
      const lines = (await readFile(join(directory, 'provenance.jsonl'), 'utf8')).split('\n').length - 1
      const records = (await readFile(join(directory, 'records.jsonl'), 'utf8')).split('\n').length - 1
      assert.deepEqual([lines, records], [snapshot.lastSeq, snapshot.records])
      assert.equal(lines, records)
      assert.equal((await sheet.all()).length, 201)
    })

    test('deleted values are nowhere in the copied records', async (t) => {
      const sheet = await TestSheet.make(t, openStore, { properties: PROPERTIES })
      await sheet.write([{ id: 'a', title: 'kept' }])
      const directory = await emptyDirectory(t)
      await sheet.store.snapshot(directory)
      assert.match(await readFile(join(directory, 'records.jsonl'), 'utf8'), /kept/)
      await sheet.store.delete(['a'], HUMAN)
      await sheet.store.snapshot(directory)
      assert.equal(await readFile(join(directory, 'records.jsonl'), 'utf8'), '')
    })

    test('a directory that cannot be written is a RecordsError', async (t) => {
      const sheet = await TestSheet.make(t, openStore, { properties: PROPERTIES })
      await assert.rejects(sheet.store.snapshot(join(sheet.directory, 'nowhere')), {
        name: 'Error',
        type: 'RecordsError',
      })
    })
  })
}

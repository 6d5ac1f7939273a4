import assert from 'node:assert/strict'
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { RecordsError } from '../../errors/service-error.ts'
import { setAsideFiles } from '../../provenance/set-aside.ts'
import { PATIENT_LIMITS } from '../suite/support/patient-limits.ts'
import { TestSheet, type OpenStore } from '../suite/support/test-sheet.ts'
import { SqliteStore } from './sqlite-store.ts'

const open: OpenStore = (directory, { contract, targets, ...options }) =>
  SqliteStore.open(directory, {
    ...options,
    definition: { contract, targets },
    queryLimits: PATIENT_LIMITS,
  })

const PROPERTIES = ['{name: a, logicalType: string}', '{name: n, logicalType: number}']
const SETUP = { properties: PROPERTIES, targets: [] }
const RECORDS = Array.from({ length: 200 }, (_, index) => ({ id: `r${index}`, a: `A${index}`, n: index }))

/** Returns a sheet with imported records, of which one was changed and one deleted since. */
async function importedSheet(t: TestContext): Promise<TestSheet> {
  const sheet = await TestSheet.make(t, open, SETUP)
  await sheet.write([{ id: 'first', a: 'F' }])
  await sheet.importRecords(RECORDS, await sheet.importRun())
  await sheet.write([{ id: 'r3', a: 'changed' }])
  await sheet.store.delete(['r7'], 'human:ann')
  return sheet
}

const logOf = ({ directory }: TestSheet): string => readFileSync(join(directory, 'provenance.jsonl'), 'utf8')

/** Returns the history of a changed, a deleted and an unchanged record. */
async function histories(sheet: TestSheet): Promise<unknown> {
  return Promise.all(['r3', 'r7', 'r150'].map((id) => sheet.history(id, 'a')))
}

test('D34: lines of imported records are written again from the store, whose copy of them is compressed', async (t) => {
  const sheet = await importedSheet(t)
  await sheet.close()
  const log = logOf(sheet)
  rmSync(join(sheet.directory, 'provenance.jsonl'))
  await sheet.open()
  assert.equal(logOf(sheet), log)
  const db = new DatabaseSync(join(sheet.directory, 'sheet.db'))
  t.after(() => db.close())
  const stored = db.prepare(
    'SELECT (SELECT sum(length(rows)) FROM "$packed") + sum(length(line)) AS bytes FROM "$provenance"',
  )
  assert.ok(Number(stored.get()?.['bytes']) < log.length / 2)
})

test('a new store beside an export continues a log with imported records', async (t) => {
  const sheet = await importedSheet(t)
  const copy = await TestSheet.files(t, open, SETUP)
  await sheet.store.snapshot(copy.directory)
  rmSync(join(copy.directory, 'sheet.db'))
  await copy.open()
  assert.deepEqual(await copy.all(), await sheet.all())
  assert.deepEqual(await histories(copy), await histories(sheet))
  assert.equal(logOf(copy), logOf(sheet))
  assert.equal(await copy.store.countAsOf(2), await sheet.store.countAsOf(2))
})

test('D34: lines of imported records that another copy has written are taken over, all or none', async (t) => {
  const sheet = await TestSheet.make(t, open, SETUP)
  await sheet.write([{ id: 'first', a: 'F' }])
  await sheet.close()
  const [copy, other] = [await copyOf(t, sheet), await copyOf(t, sheet)]
  await sheet.open()
  await sheet.importRecords(RECORDS, await sheet.importRun())
  await sheet.write([{ id: 'r3', a: 'changed' }])
  await sheet.store.delete(['r7'], 'human:ann')
  const log = logOf(sheet)
  put(copy, log)
  await copy.open()
  assert.deepEqual(await copy.all(), await sheet.all())
  assert.deepEqual(await histories(copy), await histories(sheet))
  assert.equal(logOf(copy), log)
  assert.deepEqual(setAsideFiles(join(copy.directory, 'provenance.jsonl')), [])

  // A record of one of them exists.
  put(other, log.replace('["r150",', '["first",'))
  await other.open()
  assert.deepEqual((await other.all()).length, 1)
  assert.equal(setAsideFiles(join(other.directory, 'provenance.jsonl')).length, 1)
})

test('entries of imported records have the time at which another branch wrote them', async (t) => {
  const sheet = await TestSheet.make(t, open, SETUP)
  await sheet.write([{ id: 'first', a: 'F' }])
  await sheet.close()
  const copy = await copyOf(t, sheet)
  const line = {
    seq: 2,
    at: '2999-01-02T00:00:00.000Z',
    actor: 'human:bob',
    source: 'import',
    file: 'people.csv',
    run_id: '1',
    fields: ['id', 'a'],
    records: 1,
    rows: [['x', 'A']],
    written_at: '2999-01-01T00:00:00.000Z',
  }
  put(copy, `${logOf(sheet)}${JSON.stringify(line)}\n`)
  await copy.open()
  const [entry] = await copy.history('x', 'a')
  assert.deepEqual([entry?.['at'], entry?.['written_at']], [line.at, line.written_at])
  assert.equal(logOf(copy).trimEnd().split('\n').at(-1), JSON.stringify(line))
})

test('damaged rows of a line are an error with its number', async (t) => {
  const sheet = await importedSheet(t)
  await sheet.close()
  const db = new DatabaseSync(join(sheet.directory, 'sheet.db'))
  db.exec(`UPDATE "$packed" SET rows = x'00' WHERE seq = 2`)
  db.close()
  await sheet.open()
  await assert.rejects(
    async () => sheet.store.logText({ after: 0, upTo: 5 }),
    (error) =>
      error instanceof RecordsError && /the rows of line 2 of the log in sheet\.db/.test(error.message),
  )
})

/** Returns a sheet with copies of the files of a closed one, which are of the same store. */
async function copyOf(t: TestContext, { directory }: TestSheet): Promise<TestSheet> {
  const copy = await TestSheet.files(t, open, SETUP)
  cpSync(directory, copy.directory, { recursive: true })
  assert.ok(existsSync(join(copy.directory, 'sheet.db')))
  // The store then knows the files by their names.
  await copy.open()
  await copy.close()
  return copy
}

/** Puts another log in the place of that of a sheet, as git does. */
function put({ directory }: TestSheet, log: string): void {
  const path = join(directory, 'provenance.jsonl')
  writeFileSync(`${path}-other`, log)
  renameSync(`${path}-other`, path)
}

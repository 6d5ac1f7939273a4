import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../../contract/json/json.ts'
import type { SheetStore } from '../../sheet-store.ts'
import { AGENT, HUMAN, target, TestSheet, type OpenStore } from '../../suite/support/test-sheet.ts'
import type { CellLog } from '../../rules/cell-log.ts'
import { runAsync, runSync } from '../../rules/steps.ts'
import { Connection } from '../database/connection.ts'
import { storePaths } from '../definition/create-store.ts'
import { readingOn } from '../database/reading.ts'
import { OutdatedDefinitionError } from '../../revision-store.ts'
import { entriesOfCells } from '../../rules/log/record-entries.ts'
import { HistoryReader } from './history-reader.ts'
import { LogReader } from './log-reader.ts'
import { ProvenanceReader } from './provenance-reader.ts'
import type { LongReads } from './reading-client.ts'
import { PATIENT_LIMITS } from '../../suite/support/patient-limits.ts'
import { SqliteStore } from '../sqlite-store.ts'

const open: OpenStore = (directory, { contract, targets, ...options }): Promise<SheetStore> =>
  SqliteStore.open(directory, {
    ...options,
    definition: { contract, targets },
    queryLimits: PATIENT_LIMITS,
  })

const SETUP = {
  properties: ['{name: a, logicalType: string}', '{name: b, logicalType: string}'],
  targets: [target('b', [])],
}

/** Number of writes of the cell and the other field: far more than lines may be parsed. */
const MANY = 300

/** For lines none of which is long. */
const NONE_LONG: LongReads = { call: () => Promise.reject(new Error('nothing is long')) }

function databaseOf(t: TestContext, sheet: TestSheet): Connection {
  const db = Connection.forReading(storePaths(sheet.directory).database)
  t.after(() => db.close())
  return db
}

function logOf(t: TestContext, sheet: TestSheet, id: string, name: string): CellLog {
  const field = sheet.contract.fieldByName.get(name)
  assert.ok(field)
  const log = new ProvenanceReader(databaseOf(t, sheet)).log(id, field)
  assert.ok(log)
  return log
}

/** Returns the number of lines of the log that are parsed during an operation. */
async function linesParsed<T>(
  t: TestContext,
  read: () => T | Promise<T>,
): Promise<{ lines: number; result: T }> {
  const parse = t.mock.method(JSON, 'parse')
  const result = await read()
  const lines = parse.mock.callCount()
  parse.mock.restore()
  return { lines, result }
}

test('a cell is found in the log without reading its history, or that of other fields', async (t) => {
  const sheet = await TestSheet.make(t, open, SETUP)
  const writeOften = async (field: string): Promise<void> => {
    for (let at = 0; at < MANY; at += 50) {
      const writes = Array.from({ length: 50 }, (_, index) => ({ id: 'r', [field]: `${at + index}` }))
      await Promise.all(writes.map((record) => sheet.write([record], AGENT)))
    }
  }
  await sheet.write([{ id: 'r', a: 'first' }])
  await sheet.compute('r', 'b', 'v', 'hash')
  const computation = await sheet.latest('r', 'b')
  await writeOften('a')
  const field = sheet.contract.fieldByName.get('b')
  assert.ok(field && typeof computation?.['input_hash'] === 'string')
  const hash = computation['input_hash']
  const db = databaseOf(t, sheet)
  const log = logOf(t, sheet, 'r', 'b')
  const readLog = LogReader.cell({ db, long: NONE_LONG }, { recordId: 'r', field })
  assert.ok(readLog)
  const reads: [what: string, read: () => unknown, wanted: unknown][] = [
    ['the latest', () => runAsync(readLog.latest(1)), { entries: [computation], isCut: false }],
    ['all', () => runAsync(readLog.page({ from: null, limit: 10 })), { entries: [computation], next: null }],
    ['the computation', () => runAsync(readLog.computation(hash)), computation],
    ['one by its seq', () => runSync(log.at(2)), computation],
    ['the one before', () => runSync(log.latestBefore(computation['seq'] as number)), null],
  ]
  for (const [what, read, wanted] of reads) {
    const { lines, result } = await linesParsed(t, read)
    assert.deepEqual(result, wanted, what)
    assert.ok(lines <= 3, `${what}: ${lines} lines were parsed`)
  }
  // The requested number of entries of a cell that was written often.
  const own = logOf(t, sheet, 'r', 'a')
  const { lines } = await linesParsed(t, () => [runSync(own.latest(2)), runSync(own.at(1))])
  assert.equal(lines, 3)
})

test('D34, D35: an entry is found by its seq as it is in the history, of every life and an import', async (t) => {
  const common = { at: '2026-01-01T00:00:00.000Z', actor: 'human:old', source: 'write', record_id: 'r' }
  const sheet = await TestSheet.make(t, open, {
    ...SETUP,
    targets: [],
    log: [
      { seq: 1, ...common, values: { id: 'r', a: 'old', b: 'old' }, previous: {} },
      { seq: 3, ...common, values: { a: 'older', b: null }, previous: { a: 'old', b: 'old' } },
      { seq: 4, ...common, record_id: 'made', values: { id: 'made', a: 'old' }, previous: {} },
    ],
    records: [{ id: 'r', b: 'imported' }, { id: 'other' }],
  })
  await sheet.write([{ id: 'made', b: 'new' }], AGENT)
  for (const id of ['r', 'made']) {
    await sheet.write([{ id, a: 'x' }])
    await sheet.store.delete([id], HUMAN)
    await sheet.write([{ id, b: 'y' }], AGENT)
    await sheet.store.delete([id], HUMAN)
    await sheet.write([{ id }])
  }
  for (const id of ['r', 'made', 'other']) {
    for (const field of ['a', 'b', 'id']) {
      const history = await sheet.history(id, field)
      const log = logOf(t, sheet, id, field)
      const found = Array.from({ length: 20 }, (_, seq) => runSync(log.at(seq))).filter(
        (entry) => entry !== null,
      )
      assert.deepEqual(found, history, `${id}, ${field}`)
      assert.deepEqual(await sheet.latest(id, field), history.at(-1) ?? null)
    }
  }
  const values = async (id: string, field: string): Promise<unknown> =>
    (await sheet.history(id, field)).map(({ seq, value }: JsonObject) => [seq, value])
  assert.deepEqual(await values('r', 'a'), [
    [1, 'old'],
    [3, 'older'],
    [5, null],
    [7, 'x'],
    [8, null],
  ])
  assert.deepEqual(await values('made', 'a'), [
    [4, 'old'],
    [6, null],
    [12, 'x'],
    [13, null],
  ])
  assert.deepEqual(await values('other', 'a'), [])
})

test('a long log is searched in parts, between which other requests are served', async (t) => {
  const common = { at: '2026-01-01T00:00:00.000Z', actor: 'human:old', source: 'write', record_id: 'r' }
  const lines = 3000
  const sheet = await TestSheet.make(t, open, {
    ...SETUP,
    targets: [],
    log: Array.from({ length: lines }, (_, index) => ({
      seq: index + 1,
      ...common,
      values: index === 0 ? { id: 'r', b: 'first' } : { a: `${index}` },
      previous: {},
    })),
  })
  let turns = 0
  let next = setImmediate(function count() {
    turns += 1
    next = setImmediate(count)
  })
  t.after(() => clearImmediate(next))
  assert.equal((await sheet.latest('r', 'b'))?.['value'], 'first')
  assert.ok(turns >= lines / 500 - 1, `${turns} turns`)
  turns = 0
  assert.equal((await sheet.history('r', 'a')).length, lines - 1)
  assert.ok(turns >= lines / 500 - 1, `${turns} turns`)
})

test('the value at the start of a read is found behind a later line that has the name of the field as a value', async (t) => {
  const sheet = await TestSheet.make(t, open, { properties: SETUP.properties })
  await sheet.write([{ id: 'r', a: 'first' }])
  const field = sheet.contract.fieldByName.get('a')
  assert.ok(field)
  const reader = new LogReader({ db: databaseOf(t, sheet), long: NONE_LONG }, [])
  await sheet.write([{ id: 'r', b: 'a' }])
  await sheet.write([{ id: 'r', a: 'second' }])
  await sheet.write([{ id: 'r', a: 'third' }])
  // The first record of a store has the key 1.
  assert.equal(await reader.currentValue({ key: 1, field }), 'first')
})

test('the history of a record that is read while a field is renamed or converted is refused: values may be those of another field or type', async (t) => {
  const sheet = await TestSheet.make(t, open, {
    properties: ['{name: n, logicalType: string}'],
    records: [{ id: 'r', n: '1' }],
  })
  const on = { db: databaseOf(t, sheet), long: NONE_LONG }
  const before = [...sheet.contract.fieldByName.values()]
  const logs = LogReader.cells(on, { recordId: 'r', fields: before }) ?? []
  assert.equal((await entriesOfCells(logs, { from: null, limit: 10 })).entries.length, 2)
  await sheet.define(
    { properties: ['{name: n, logicalType: integer}'] },
    { converted: new Map([['n', { onInvalid: 'refuse' }]]) },
  )
  await assert.rejects(entriesOfCells(logs, { from: null, limit: 10 }), OutdatedDefinitionError)
  const converted = LogReader.cells(on, { recordId: 'r', fields: [...sheet.contract.fieldByName.values()] })
  await sheet.define({ properties: ['{name: m, logicalType: integer}'] }, { renamed: new Map([['n', 'm']]) })
  const read = readingOn(entriesOfCells(converted ?? [], { from: null, limit: 10 }))
  await assert.rejects(read, OutdatedDefinitionError)
})

test('an earlier state that is read while fields are changed is refused: no line of a record has that', async (t) => {
  const records = Array.from({ length: 1000 }, (_, index) => ({ id: `r${index}`, n: '1' }))
  const sheet = await TestSheet.make(t, open, { properties: ['{name: n, logicalType: string}'], records })
  const history = new HistoryReader(databaseOf(t, sheet))
  const query = { fields: [{ name: 'n', type: 'string' }], limit: 1000, after: null, seq: 1 } as const
  assert.equal((await history.page(query)).next, null)
  const page = history.page(query)
  // The first records are read, and the others after other work of the thread.
  const other = new DatabaseSync(storePaths(sheet.directory).database)
  t.after(() => other.close())
  const change = { renamed: [], removed: [], converted: [], restored: [] }
  other.prepare('INSERT INTO "$field_change" (seq, "change") VALUES (2, ?)').run(JSON.stringify(change))
  await assert.rejects(page, OutdatedDefinitionError)
})

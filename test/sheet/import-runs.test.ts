import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { OperationError, PermissionDeniedError } from '../../src/errors/service-error.ts'
import { readProvenance } from '../../src/sheet/cells/read-provenance.ts'
import { cancelRun } from '../../src/sheet/runs/cancel-run.ts'
import { startMaterialize } from '../../src/sheet/runs/materialize.ts'
import { getRun, listRuns } from '../../src/sheet/runs/read-runs.ts'
import { startRevert, type RevertReport } from '../../src/sheet/runs/revert.ts'
import {
  importRecords,
  type ImportOptions,
  type ImportResult,
} from '../../src/sheet/transfer/import-records.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { contractText } from '../support/contract-with.ts'
import { skipOnPostgres } from '../support/engine.ts'
import { answerLookups, lookup, openRunSheet, type RunSheet } from '../support/run-fixture.ts'
import { openTestSheet } from '../support/sheet-fixture.ts'
import { temporaryFile } from '../support/temporary-file.ts'

const ACTOR = 'human:ann'

/** Opens a sheet with three records, in which `b` is looked up by `a`. */
async function open(t: TestContext): Promise<RunSheet> {
  const run = await openRunSheet(t, {
    properties: [
      'a: string',
      "{name: b, logicalType: string, x-editable-by: ['human:*']}",
      'note: string',
      '{name: code, logicalType: string, unique: true}',
    ],
    records: ['x', 'y', 'z'].map((id) => ({ id, a: id, code: id })),
    derivations: (url) => ({ 'b.yaml': lookup(url, 'b', 'a') }),
  })
  answerLookups(run.api)
  return run
}

async function importCsv(
  t: TestContext,
  { sheet }: RunSheet,
  text: string,
  options: Partial<ImportOptions> = {},
): Promise<ImportResult> {
  const source = await temporaryFile(t, 'people.csv', text)
  return importRecords(sheet, source, { format: 'csv', actor: ACTOR, ...options })
}

async function undo(
  { sheet }: Pick<RunSheet, 'sheet'>,
  runId: string | null,
  actor = ACTOR,
): Promise<RevertReport> {
  return (await startRevert(sheet, { runId: runId ?? '', actor })).done
}

async function all({ sheet }: RunSheet): Promise<JsonObject[]> {
  const { store, contract } = await sheet.current()
  const fields = contract.fields.map(({ name }) => name)
  const page = await store.page({ fields, limit: 100, after: null, filter: null, sort: [], skip: 0 })
  return JSON.parse(String(page.records)) as JsonObject[]
}

const write = ({ sheet }: RunSheet, record: JsonObject): Promise<unknown> =>
  upsertRecords(sheet, { records: [record], actor: 'human:bob' })

test('an import is a run that names its file, and reverting it restores every record', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await open(t)
  const before = await all(run)
  // The codes of x and y are swapped, and n takes that of z.
  const text = 'id,a,note,code\nx,x,first,y\ny,other,,x\nz,z,,free\nn,n,new,z\n'
  const { run: id, inserted, updated, unchanged } = await importCsv(t, run, text)
  assert.deepEqual([inserted, updated, unchanged], [1, 3, 0])
  const stored = await getRun(run.sheet, id ?? '')
  assert.deepEqual(
    [stored.kind, stored.file, stored.state, stored.actor, stored.total, stored.materialized, stored.skipped],
    ['import', 'people.csv', 'finished', ACTOR, 4, 4, 0],
  )
  const entry = await readProvenance(run.sheet, { recordId: 'n', field: 'note' })
  assert.equal(entry?.['run_id'], id)

  const report = await undo(run, id)
  assert.deepEqual([report.reverted, report.conflicts], [6, []])
  assert.deepEqual(await all(run), before)
  const reverting = await getRun(run.sheet, report.runId ?? '')
  assert.deepEqual([reverting.state, reverting.done, reverting.total], ['finished', 6, 6])
})

test('the revert of an import can be reverted: deleted records are there again', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await open(t)
  const imported = await importCsv(t, run, 'id,a,note,code\nn,n,new,n\nx,changed,,x\nm,m,,m\n')
  const after = await all(run)
  const first = await undo(run, imported.run)
  assert.equal((await all(run)).length, 3)
  const second = await undo(run, first.runId)
  assert.deepEqual([second.reverted, second.conflicts], [3, []])
  const byId = (records: readonly JsonObject[]): readonly JsonObject[] =>
    records.toSorted((a, b) => (String(a['id']) < String(b['id']) ? -1 : 1))
  assert.deepEqual(byId(await all(run)), byId(after))
  await undo(run, second.runId)
  assert.equal((await all(run)).length, 3)
})

test('values that were changed since the import stay, and so do records with one', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await open(t)
  const imported = await importCsv(t, run, 'id,a,note\nx,x,imported\ny,y,imported\nn,n,new\nm,m,new\n')
  await write(run, { id: 'x', note: 'corrected' })
  await write(run, { id: 'n', note: 'corrected' })
  const report = await undo(run, imported.run)
  assert.equal(report.reverted, 2)
  assert.deepEqual(report.conflicts.map(({ recordId, field }) => `${recordId} ${field}`).toSorted(), [
    'n id',
    'x note',
  ])
  assert.deepEqual(
    (await all(run)).map(({ id, note }) => [id, note]),
    [
      ['x', 'corrected'],
      ['y', null],
      ['z', null],
      ['n', 'corrected'],
    ],
  )
})

test('a record whose cells were only computed since its import is deleted; an overridden one stays', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await open(t)
  const imported = await importCsv(t, run, 'id,a\nn,n\nm,m\n')
  await (
    await startMaterialize(run.sheet, { targets: null, recordIds: null, force: false, actor: 'agent:r' })
  ).done
  await write(run, { id: 'm', b: 'by hand' })
  const report = await undo(run, imported.run)
  assert.deepEqual([report.reverted, report.conflicts], [1, [{ recordId: 'm', field: 'id' }]])
  await run.checkStatus()
})

test('a record that is in the file twice is as it was before, too', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await open(t)
  const before = await all(run)
  const imported = await importCsv(t, run, 'id,note\nx,one\nn,one\nx,two\nn,two\n')
  const report = await undo(run, imported.run)
  assert.deepEqual([report.reverted, report.conflicts], [4, []])
  assert.deepEqual(await all(run), before)
})

test('a file without a change writes nothing, and is no run', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await open(t)
  const result = await importCsv(t, run, 'id,a\nx,x\ny,y\n')
  assert.deepEqual([result.written, result.unchanged, result.run], [true, 2, null])
  assert.deepEqual((await listRuns(run.sheet, { limit: null, cursor: null })).runs, [])
})

async function cancelLast({ sheet }: RunSheet): Promise<void> {
  const [last] = (await listRuns(sheet, { limit: 1, cursor: null })).runs
  assert.deepEqual([last?.state, last?.total], ['running', 5000])
  await cancelRun(sheet, last?.id ?? '', 'human:bob')
}

test('a cancelled import ends between two batches, and what it wrote can be reverted', async (t) => {
  const run = await open(t)
  // So long that no more than a thousand are written together.
  const long = 'v'.repeat(2200)
  const lines = Array.from({ length: 5000 }, (_, index) => `r${index},${long}`)
  const failure = await importCsv(t, run, `id,note\n${lines.join('\n')}\n`, {
    onProgress: ({ phase, records }) => {
      if (phase !== 'write' || records !== 2000) return
      void cancelLast(run)
    },
  }).catch((error: unknown) => error)
  assert.ok(failure instanceof OperationError)
  assert.match(failure.message, /cancelled by "human:bob"; the \d+ records up to people.csv:\d+ are stored/)
  const [cancelled] = (await listRuns(run.sheet, { limit: 1, cursor: null })).runs
  assert.equal(cancelled?.state, 'cancelled')
  assert.equal(cancelled.cancelledBy, 'human:bob')
  const { reverted } = await undo(run, cancelled.id)
  assert.equal(reverted, cancelled.materialized)
  assert.equal((await all(run)).length, 3)
})

test('an import does not wait for a run that computes', async (t) => {
  const run = await open(t)
  const lock = await (await run.sheet.current()).store.lockRun(1000, run.sheet.stopping)
  try {
    assert.equal((await importCsv(t, run, 'id,note\nx,there\n')).updated, 1)
  } finally {
    lock.release()
  }
})

test('an actor that may not delete records cannot undo their import', async (t) => {
  if (skipOnPostgres(t)) return
  const contract = `${contractText(['{name: a, logicalType: string}'])}    customProperties: [{property: deletableBy, value: ['human:boss']}]\n`
  const sheet = await openTestSheet(t, { contract, records: [{ id: 'x' }], derivations: {} })
  const source = await temporaryFile(t, 'people.csv', 'id,a\nn,n\n')
  const imported = await importRecords(sheet, source, { format: 'csv', actor: ACTOR })
  await assert.rejects(undo({ sheet }, imported.run), PermissionDeniedError)
  assert.equal((await undo({ sheet }, imported.run, 'human:boss')).reverted, 1)
})

test('a dry run previews the records that would change, with their values', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await open(t)
  const text = 'id,a,note\nx,x,\ny,y,note\nn,n,\n'
  const { preview, inserted, updated, unchanged, run: id } = await importCsv(t, run, text, { dryRun: true })
  assert.deepEqual([inserted, updated, unchanged, id], [1, 1, 1, null])
  assert.deepEqual(preview, [
    {
      recordId: 'y',
      place: 'people.csv:3',
      change: 'update',
      fields: [{ field: 'note', was: null, value: 'note' }],
    },
    {
      recordId: 'n',
      place: 'people.csv:4',
      change: 'create',
      fields: [
        { field: 'id', was: null, value: 'n' },
        { field: 'a', was: null, value: 'n' },
      ],
    },
  ])
})

test('columns can be mapped to fields, or left out', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await open(t)
  const text = 'key,a,remark\nx,ignored,mapped\n'
  const columns = new Map([
    ['key', 'id'],
    ['a', null],
    ['remark', 'note'],
  ])
  await importCsv(t, run, text, { columns })
  assert.deepEqual((await all(run))[0], { id: 'x', a: 'x', b: null, note: 'mapped', code: 'x' })
  await assert.rejects(importCsv(t, run, text, { columns: new Map([['gone', 'a']]) }), {
    message: /people.csv has no column "gone"/,
  })
  await assert.rejects(importCsv(t, run, text, { columns: new Map([['key', 'idd']]) }), {
    message: /column "key", field "idd": the contract has no such field; was "?id"? meant\?/,
  })
  await assert.rejects(importCsv(t, run, text, { columns: new Map([...columns, ['a', 'id']]) }), {
    message: /two columns are the field "id": "key" and "a"/,
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MaterializeRequest } from '../../src/sheet/runs/materialize.ts'
import { planMaterialize } from '../../src/sheet/runs/plan-materialize.ts'
import { getRunDetail, listRunFailures, listRuns, type PageOptions } from '../../src/sheet/runs/read-runs.ts'
import { RUN_LIMITS } from '../../src/sheet/runs/selection/run-limits.ts'
import { MaterializeBody } from '../../src/wire/runs/materialize.ts'
import { newRun } from '../../src/store/suite/support/test-sheet.ts'
import { openLookupSheet, openRunSheet, type RunSheet } from '../support/run-fixture.ts'

const SELECTION = { targets: null, recordIds: null, force: false }

const NEWEST = { limit: 1, cursor: null }

/** Refuses the run as well as its plan, and leaves no run behind. */
async function refuses(run: RunSheet, request: Partial<MaterializeRequest>, message: RegExp): Promise<void> {
  const before = await listRuns(run.sheet, NEWEST)
  await assert.rejects(run.start(request), { type: 'ValidationError', message })
  await assert.rejects(planMaterialize(run.sheet, { ...SELECTION, ...request }), {
    type: 'ValidationError',
    message,
  })
  assert.deepEqual(await listRuns(run.sheet, NEWEST), before)
}

const absent = (count: number): string[] => Array.from({ length: count }, (_, index) => `absent ${index}`)

test('D12: a run has each of its targets and records once', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  const targets = Array.from({ length: RUN_LIMITS.targets }, () => 'b')
  const recordIds = Array.from({ length: RUN_LIMITS.records }, (_, index) => (index % 2 === 0 ? '1' : 'no'))
  await run.run({ targets, recordIds })
  const [newest] = (await listRuns(run.sheet, NEWEST)).runs
  assert.deepEqual(newest?.targets, ['b'])
  assert.equal(newest.recordCount, 2)
  assert.deepEqual((await getRunDetail(run.sheet, newest.id)).recordIds, ['1', 'no'])
})

test('lists beyond their limits are refused before anything is stored or published', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  const { targets, records, bytes } = RUN_LIMITS
  const names = (count: number): string[] => Array.from({ length: count }, () => 'b')
  await refuses(run, { targets: names(targets + 1) }, /^targets has 2001 items; at most 2000 are possible/)
  await refuses(
    run,
    { recordIds: names(records + 1) },
    /^record_ids has 100001 items; at most 100000 are possible/,
  )
  const long = ['ä'.repeat(bytes / 2), 'x']
  await refuses(run, { recordIds: long }, /^record_ids has 4194305 bytes; at most 4194304 are possible/)
  await refuses(run, { targets: long }, /^targets has 4194305 bytes; at most 4194304 are possible/)
  assert.deepEqual(await run.frames(), [])
  const schemas: Readonly<Record<string, object>> = MaterializeBody.properties
  assert.partialDeepStrictEqual(schemas, {
    targets: { maxItems: targets },
    record_ids: { maxItems: records },
  })
})

test('D29: as many records may be absent as their failures are within the limit', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'b: string', 'c: string'],
    records: [{ id: '1', a: 'x' }],
    derivations: (url) => ({
      'both.yaml': {
        kind: 'http',
        targets: ['b', 'c'],
        inputs: ['a'],
        url: `${url}/{{ a }}`,
        response_schema: { b: 'b', c: 'c' },
      },
    }),
  })
  const most = RUN_LIMITS.absent / 2
  const { failures } = await run.run({ recordIds: absent(most) })
  assert.equal(failures.length, RUN_LIMITS.absent)
  const tooMany = absent(most + 1)
  const words =
    /^record_ids names 25001 records that do not exist, beginning with "absent 0": 50002 failures with 2 targets, and at most 50000/
  await refuses(run, { recordIds: tooMany }, words)
  const { failures: ofOne } = await run.run({ targets: ['b'], recordIds: tooMany })
  assert.equal(ofOne.length, tooMany.length)
  assert.deepEqual(run.api.calls(), {})
})

test('D29: for a run that keeps values, the failures of its own targets count', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  const keepFresh = 'b.yaml'
  await refuses(run, { keepFresh, recordIds: absent(RUN_LIMITS.absent + 1) }, /50001 failures with 1 target,/)
})

test('lists of runs and failures continue after a page that ended at its limit in bytes', async (t) => {
  const { sheet } = await openLookupSheet(t, [])
  const { store } = await sheet.current()
  const long = 'x'.repeat(3 << 20)
  const targets = [long]
  const ids = [await store.startRun(newRun({ targets })), await store.startRun(newRun({ targets }))]
  const last = await store.startRun(newRun({ targets }))
  const failed = ['1', '2', '3'].map((recordId) => {
    return { recordId, field: 'b', error: long, errorType: 'SheetError', reason: 'no_record' } as const
  })
  await store.runLocked(last, { total: 3, absent: failed, manual: 0 })
  const runs = await pages(
    (page) => listRuns(sheet, page),
    ({ runs: found }) => found.map(({ id }) => id),
  )
  assert.deepEqual(runs, [[last, ids[1]], [ids[0]]])
  const failures = await pages(
    (page) => listRunFailures(sheet, last, page),
    ({ failures: found }) => found.map(({ recordId }) => recordId),
  )
  assert.deepEqual(failures, [['1', '2'], ['3']])
})

/** Reads a list to its end: the items of each page. */
async function pages<P extends { readonly nextCursor: string | null }, T>(
  read: (page: PageOptions) => Promise<P>,
  itemsOf: (page: P) => T,
): Promise<T[]> {
  const all: T[] = []
  for (let cursor: string | null = null; ;) {
    const page: P = await read({ limit: 100, cursor })
    all.push(itemsOf(page))
    cursor = page.nextCursor
    if (cursor === null) return all
  }
}

test('D29: cells with inputs of more than 1 MiB of text, or 256 KiB of arrays, fail without a call, and so says the plan', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'list: array', 'b: string'],
    records: [
      { id: 'text', a: 'ä'.repeat((1 << 19) + 1), list: [] },
      { id: 'list', a: 'x', list: Array.from({ length: 150_000 }, () => 1) },
      { id: 'most', a: 'ä'.repeat(1 << 19), list: [] },
    ],
    derivations: (url) => ({
      'b.yaml': {
        kind: 'http',
        targets: ['b'],
        inputs: ['a', 'list'],
        method: 'POST',
        url,
        body_template: { text: '{{ a }}', list: '{{ list }}' },
        response_path: 'b',
      },
    }),
  })
  run.api.answer('*', { json: { b: 'seen' } })
  const plan = await planMaterialize(run.sheet, SELECTION)
  assert.deepEqual([plan.calls, plan.targets['b']], [1, { compute: 1, cached: 0, skipped: 2 }])
  const { failures, materialized } = await run.run()
  assert.equal(materialized, 1)
  assert.deepEqual(
    failures.map(({ recordId, error }) => [recordId, error]),
    [
      ['text', 'b.yaml -> the texts among its inputs (a, list) have 1025 KiB; they may have 1024 KiB'],
      [
        'list',
        'b.yaml -> the arrays and objects among its inputs (a, list) have 293 KiB; they may have 256 KiB',
      ],
    ],
  )
})

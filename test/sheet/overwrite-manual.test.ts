import { skipOnPostgres } from '../support/engine.ts'
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { PermissionDeniedError, ValidationError } from '../../src/errors/service-error.ts'
import { startMaterialize } from '../../src/sheet/runs/materialize.ts'
import { planMaterialize, type PlanSelection } from '../../src/sheet/runs/plan-materialize.ts'
import { getRun, listRuns } from '../../src/sheet/runs/read-runs.ts'
import { answerLookups, lookup, openRunSheet, type RunSheet } from '../support/run-fixture.ts'

const ALL: PlanSelection = { targets: null, recordIds: null, force: true }
const OVERWRITE = { ...ALL, overwriteManual: true, actor: 'user:ann' }

/** `b` is computed from `a`, and `c` from `b`; people may write both, and nobody may write `d`. */
async function openChain(t: TestContext, ids: readonly string[]): Promise<RunSheet> {
  const run = await openRunSheet(t, {
    properties: [
      'a: string',
      "{name: b, logicalType: string, x-editable-by: ['user:*']}",
      "{name: c, logicalType: string, x-editable-by: ['user:*', 'agent:c-*']}",
      'd: string',
    ],
    records: ids.map((id) => ({ id, a: id, ...(id === 'came-with-d' && { d: 'imported' }) })),
    derivations: (url) => ({
      'b.yaml': lookup(url, 'b', 'a'),
      'c.yaml': lookup(url, 'c', 'b'),
      'd.yaml': lookup(url, 'd', 'a'),
    }),
  })
  answerLookups(run.api)
  await run.run()
  return run
}

/** Returns the plan of a run without kept responses. */
async function plan(run: RunSheet, selection: Partial<PlanSelection> = {}) {
  const { targets, ...rest } = await planMaterialize(run.sheet, { ...ALL, ...selection })
  const cells = Object.entries(targets).map(
    ([target, { kept: _kept, ...counts }]) => [target, counts] as const,
  )
  return { ...rest, targets: Object.fromEntries(cells) }
}

/** Runs it, and returns what its row counts of values written by hand. */
async function countsOf(run: RunSheet, request: Parameters<RunSheet['run']>[0]): Promise<number[]> {
  await run.run(request)
  const { runs } = await listRuns(run.sheet, { limit: 1, cursor: null })
  return [runs[0]?.manualLeft ?? -1, runs[0]?.manualOverwritten ?? -1]
}

test('D28: force keeps manual values, and plan and row count them', async (t) => {
  const run = await openChain(t, ['1', '2', '3'])
  await run.write({ id: '1', b: 'by hand' }, { id: '2', b: 'by hand', c: 'by hand' })
  const { targets, manualLeft, manualOverwritten } = await plan(run)
  assert.deepEqual(targets['b'], { compute: 1, cached: 0, skipped: 2, manualLeft: 2 })
  assert.deepEqual(targets['c'], { compute: 2, cached: 0, skipped: 1, manualLeft: 1 })
  assert.deepEqual([manualLeft, manualOverwritten], [3, undefined])
  assert.deepEqual(await countsOf(run, { force: true }), [3, 0])
  assert.deepEqual(await run.counts('b'), { fresh: 1, overridden: 2 })
  assert.equal(await run.value('1', 'c'), '<by hand>')

  await t.test(
    'a run without force counts them too, and a run over some records those of these',
    async () => {
      const ofSome = await plan(run, { force: false, recordIds: ['1', '3'] })
      assert.deepEqual([ofSome.targets['b']?.manualLeft, ofSome.targets['c']?.manualLeft], [1, undefined])
      assert.deepEqual(await countsOf(run, { recordIds: ['1', '3'] }), [1, 0])
      assert.deepEqual(await countsOf(run, { recordIds: ['3'] }), [0, 0])
    },
  )
})

test('D28: overwrite_manual computes manual values, and plan and row count them', async (t) => {
  const run = await openChain(t, ['1', '2', '3'])
  await run.write({ id: '1', b: 'by hand', c: 'by hand' }, { id: '2', b: 'by hand' })
  const some = { ...OVERWRITE, recordIds: ['1', '3'] }
  const { targets, manualLeft, manualOverwritten } = await plan(run, some)
  assert.deepEqual(targets['b'], { compute: 2, cached: 0, skipped: 0, manualOverwritten: 1 })
  assert.deepEqual(targets['c'], { compute: 2, cached: 0, skipped: 0, manualOverwritten: 1 })
  assert.deepEqual([manualLeft, manualOverwritten], [undefined, 2])
  assert.deepEqual(await countsOf(run, some), [0, 2])
  // `c` was overwritten though its input was computed in the same run.
  assert.deepEqual([await run.value('1', 'b'), await run.value('1', 'c')], ['<1>', '<<1>>'])
  assert.equal(await run.value('2', 'b'), 'by hand')

  await t.test('a manual value beyond the bounds is kept', async () => {
    await run.write({ id: '1', b: 'by hand' })
    const bounded = { ...OVERWRITE, targets: ['b'], maxCalls: 1 }
    const { targets: planned } = await plan(run, bounded)
    assert.deepEqual(planned['b'], {
      compute: 1,
      cached: 0,
      skipped: 2,
      left: 2,
      manualLeft: 1,
      manualOverwritten: 1,
    })
    assert.deepEqual(await countsOf(run, bounded), [1, 1])
    assert.deepEqual([await run.value('1', 'b'), await run.value('2', 'b')], ['<1>', 'by hand'])
  })
})

test('D28: overwriting requires the permission to write, and the refusal names the fields', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openChain(t, ['1', 'came-with-d'])
  await run.write({ id: '1', b: 'by hand', c: 'by hand' })
  const refused = (
    selection: Partial<typeof OVERWRITE> & { targets?: string[] | null; recordIds?: string[] | null },
  ) =>
    Promise.all(
      [
        () => run.start({ ...OVERWRITE, ...selection }),
        () => startMaterialize(run.sheet, { ...OVERWRITE, ...selection }),
        () => plan(run, { ...OVERWRITE, ...selection }),
      ].map(async (ask) => {
        const error: unknown = await ask().then(
          () => null,
          (thrown: unknown) => thrown,
        )
        assert.ok(error instanceof PermissionDeniedError, String(error))
        return error.message
      }),
    ).then(([message = '', ...others]) => {
      for (const other of others) assert.equal(other, message)
      return message
    })
  assert.match(
    await refused({ targets: ['b', 'c'], actor: 'agent:c-1' }),
    /^actor "agent:c-1" may not overwrite "b" \(1 written by hand; it is editable by user:\*\); leave out overwrite_manual/,
  )
  assert.match(
    await refused({}),
    /"d" \(1 written by hand; it is derived, and nobody may write it unless its property in contract\.yaml has editableBy\)/,
  )
  assert.deepEqual(await run.counts('d'), { fresh: 1, overridden: 1 })

  await t.test('manual values in other fields or records do not matter', async () => {
    assert.deepEqual(await countsOf(run, { ...OVERWRITE, targets: ['c'], actor: 'agent:c-1' }), [0, 1])
    assert.deepEqual(await countsOf(run, { ...OVERWRITE, recordIds: ['1'] }), [0, 1])
  })
})

test('overwrite_manual requires force, and excludes a selection by state', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openChain(t, ['1'])
  const invalid = async (selection: Partial<PlanSelection>, message: RegExp): Promise<void> => {
    for (const ask of [() => plan(run, selection), () => run.start({ ...selection, actor: 'user:ann' })]) {
      await assert.rejects(ask, (error) => {
        assert.ok(error instanceof ValidationError)
        assert.match(error.message, message)
        return true
      })
    }
  }
  await invalid({ ...OVERWRITE, force: false }, /^overwrite_manual goes with force/)
  await invalid({ ...OVERWRITE, only: 'failed' }, /^overwrite_manual does not go with only.* is failed/)
  await invalid({ ...OVERWRITE, keepFresh: 'b.yaml' }, /leave out "force", "overwrite_manual"/)
})

test('D28: a value written after the run has started is not overwritten, neither before nor during its call', async (t) => {
  const run = await openChain(t, ['1', '2', '3'])
  await run.write({ id: '2', c: 'by hand' }, { id: '3', b: 'by hand' })
  const hold = run.api.hold('/b/*')
  const { id, done } = await startMaterialize(run.sheet, { ...OVERWRITE, targets: ['b', 'c'] })
  await hold.arrived(3)
  // Nothing of `c` is planned yet.
  await run.write({ id: '1', c: 'new' }, { id: '3', b: 'newer' })
  hold.release()
  await done
  assert.deepEqual(await run.record('1'), { id: '1', a: '1', b: '<1>', c: 'new', d: '<1>' })
  assert.deepEqual(await run.record('2'), { id: '2', a: '2', b: '<2>', c: '<<2>>', d: '<2>' })
  assert.deepEqual(await run.record('3'), { id: '3', a: '3', b: 'newer', c: '<newer>', d: '<3>' })
  const { manualLeft, manualOverwritten, done: settled, total } = await getRun(run.sheet, id)
  assert.deepEqual([manualLeft, manualOverwritten, settled, total], [1, 1, 6, 6])
})

test('D27: nothing is computed from a manual value that was to be overwritten and whose call failed', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openChain(t, ['1'])
  await run.write({ id: '1', b: 'by hand' })
  await run.run({ targets: ['c'] })
  run.api.answer('/b/1', { json: null, status: 500 })
  const { materialized, skipped, failures } = await run.run({ ...OVERWRITE, targets: ['b', 'c'] })
  assert.deepEqual([materialized, skipped, failures.length], [0, 1, 1])
  assert.deepEqual([await run.value('1', 'b'), await run.value('1', 'c')], ['by hand', '<by hand>'])
})

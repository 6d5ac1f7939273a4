import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { planMaterialize } from '../../src/sheet/runs/plan-materialize.ts'
import { contractText } from '../support/contract-with.ts'
import { lookup, openLookupSheet, openRunSheet, writeDerivations } from '../support/run-fixture.ts'

const COMPUTED = { materialized: 1, skipped: 0, failures: [], totalCost: 0 }
const WHAT_FAILED = { targets: null, recordIds: null, force: false, only: 'failed' } as const
const SKIPPED = { materialized: 0, skipped: 1, failures: [], totalCost: 0 }

test('D24: the input hash is the SHA-256 of canonical JSON over body, file, all inputs and URL', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'n: number', 'u: string', 'b: string'],
    records: [{ id: '1', a: 'x', n: 1.5 }],
    derivations: (url) => ({
      'b.yaml': {
        ...lookup(url, 'b', 'a'),
        inputs: ['u', 'a'],
        method: 'POST',
        body_template: { n: '{{ n }}', a: '{{ a }}' },
      },
    }),
  })
  run.api.answer('*', { json: { value: 'done' } })
  await run.run()
  const file = createHash('sha256')
    .update(await readFile(join(run.directory, 'derivations/b.yaml')))
    .digest('hex')
  const canonical =
    `{"body":{"a":"x","n":1.5},"derivation":"${file}",` +
    `"inputs":{"a":"x","n":1.5,"u":null},"url":"${run.api.url}/b/x"}`
  const entry = await run.entry('1', 'b')
  assert.equal(entry?.['input_hash'], `sha256:${createHash('sha256').update(canonical).digest('hex')}`)
  assert.equal(run.api.requests[0]?.body, '{"n":1.5,"a":"x"}')

  // A field that only a placeholder names is an input as any.
  await run.write({ id: '1', n: 2 })
  assert.deepEqual(await run.counts('b'), { stale: 1 })
  assert.deepEqual(await run.run(), COMPUTED)
  assert.equal(run.api.requests[1]?.body, '{"n":2,"a":"x"}')
})

test('D25: a cell whose request has been made before', async (t) => {
  const run = await openLookupSheet(
    t,
    ['skip', 'cached', 'force', 'fail'].map((a) => ({ id: a, a })),
  )
  const runOf = (...recordIds: string[]) => run.run({ recordIds })
  await run.run()

  await t.test('H3: is skipped with the inputs of its last computation, and is fresh again', async () => {
    await run.write({ id: 'skip', a: 'y' })
    await run.write({ id: 'skip', a: 'skip' })
    assert.deepEqual(await run.counts('b'), { fresh: 3, stale: 1 })
    assert.deepEqual(await runOf('skip'), SKIPPED)
    assert.deepEqual(await run.counts('b'), { fresh: 4 })
    assert.equal(run.api.calls()['GET /b/skip'], 1)
    assert.equal((await run.history('skip', 'b')).length, 1)
  })

  await t.test(
    'H4: in another record is filled from the cache, and its provenance records that',
    async () => {
      await run.write({ id: 'cached-2', a: 'cached' })
      assert.deepEqual(await runOf('cached-2'), COMPUTED)
      assert.equal(run.api.calls()['GET /b/cached'], 1)
      assert.equal(await run.value('cached-2', 'b'), '<cached>')
      const [first, second] = [await run.entry('cached', 'b'), await run.entry('cached-2', 'b')]
      assert.deepEqual([first?.['cached'], second?.['cached']], [false, true])
      for (const name of ['input_hash', 'derivation', 'method', 'url', 'status', 'duration_ms', 'source']) {
        assert.deepEqual(second?.[name], first?.[name], name)
      }
    },
  )

  await t.test('H5: is called again with force, and later records get the new result', async () => {
    run.api.answer('/b/force', { json: { value: 'new' } })
    assert.deepEqual(await runOf('force'), SKIPPED)
    assert.deepEqual(await run.run({ recordIds: ['force'], force: true }), COMPUTED)
    assert.equal(await run.value('force', 'b'), 'new')
    assert.equal((await run.entry('force', 'b'))?.['cached'], false)
    await run.write({ id: 'force-2', a: 'force' })
    await runOf('force-2')
    assert.equal(await run.value('force-2', 'b'), 'new')
    assert.equal(run.api.calls()['GET /b/force'], 2)
  })

  await t.test('keeps its value and the cache if a forced call fails', async () => {
    run.api.answer('/b/fail', { json: null, status: 503 })
    assert.equal((await run.run({ recordIds: ['fail'], force: true })).failures.length, 1)
    assert.equal(await run.value('fail', 'b'), '<fail>')
    assert.deepEqual(await run.counts('b'), { fresh: 5, failed: 1 })
    assert.deepEqual(await runOf('fail'), SKIPPED)
    assert.deepEqual(await run.counts('b'), { fresh: 6 })
    await run.write({ id: 'fail-2', a: 'fail' })
    assert.deepEqual(await runOf('fail-2'), COMPUTED)
  })
})

test('D25, D32: that failed since its last success is tried again by a run over failed cells, and otherwise only by a forced one', async (t) => {
  const run = await openLookupSheet(t, [
    { id: '1', a: 'x' },
    { id: '2', a: 'x' },
  ])
  await run.run()
  run.api.answer('/b/x', { text: '', status: 503 })
  await run.run({ recordIds: ['1'], force: true })
  assert.deepEqual(await run.counts('b'), { fresh: 1, failed: 1 })

  await t.test('is planned as a call, and called again', async () => {
    const { calls, targets } = await planMaterialize(run.sheet, WHAT_FAILED)
    const { compute, cached, skipped } = targets['b'] ?? {}
    assert.deepEqual([calls, compute, cached, skipped], [1, 1, 0, 1])
    assert.equal((await run.run(WHAT_FAILED)).failures.length, 1)
    assert.equal(run.api.calls()['GET /b/x'], 3)
    assert.deepEqual(await run.counts('b'), { fresh: 1, failed: 1 })
    run.api.answer('/b/x', { json: { value: 'new' } })
    assert.equal((await run.run(WHAT_FAILED)).materialized, 1)
    assert.equal(run.api.calls()['GET /b/x'], 4)
    assert.deepEqual([await run.value('1', 'b'), await run.value('2', 'b')], ['new', '<x>'])
    assert.equal((await run.entry('1', 'b'))?.['cached'], false)
    assert.deepEqual(await run.counts('b'), { fresh: 2 })
  })

  await t.test('shares one call with equal hashes here as well', async () => {
    run.api.answer('/b/x', { text: '', status: 503 })
    await run.run({ force: true })
    assert.deepEqual(await run.counts('b'), { failed: 2 })
    run.api.answer('/b/x', { json: { value: 'newest' } })
    assert.equal((await planMaterialize(run.sheet, WHAT_FAILED)).calls, 1)
    assert.equal((await run.run(WHAT_FAILED)).materialized, 2)
    assert.equal(run.api.calls()['GET /b/x'], 6)
    assert.deepEqual([await run.value('1', 'b'), await run.value('2', 'b')], ['newest', 'newest'])
  })

  await t.test('that has never been computed is filled from the cache', async () => {
    await run.write({ id: '3', a: 'y' })
    run.api.answer('/b/y', { text: '', status: 503 })
    await run.run({ recordIds: ['3'] })
    await run.write({ id: '3', a: 'x' })
    assert.equal((await run.run(WHAT_FAILED)).materialized, 1)
    assert.equal(run.api.calls()['GET /b/x'], 6)
    assert.equal((await run.entry('3', 'b'))?.['cached'], true)
  })

  await t.test('is found fresh by any other run', async () => {
    run.api.answer('/b/x', { text: '', status: 503 })
    await run.run({ recordIds: ['2'], force: true })
    assert.deepEqual(await run.run({ recordIds: ['2'] }), SKIPPED)
    assert.deepEqual(await run.counts('b'), { fresh: 3 })
  })
})

const OVERWRITE = { force: true, overwriteManual: true, actor: 'user:ann' } as const

test('D28: an overridden cell', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', "{name: b, logicalType: string, x-editable-by: ['user:*']}"],
    records: [{ id: '1', a: 'x' }],
    derivations: (url) => ({ 'b.yaml': lookup(url, 'b', 'a') }),
  })
  run.api.answer('*', { json: { value: '<x>' } })
  await run.run()

  await t.test('is skipped, also when its input is written', async () => {
    await run.write({ id: '1', b: 'by hand' })
    await run.write({ id: '1', a: 'y' })
    assert.deepEqual(await run.counts('b'), { overridden: 1 })
    assert.deepEqual(await run.run(), SKIPPED)
  })

  await t.test('stays overridden if a call fails, also if it was to be overwritten', async () => {
    run.api.answer('*', { json: null, status: 500 })
    assert.equal((await run.run(OVERWRITE)).failures.length, 1)
    assert.equal(await run.value('1', 'b'), 'by hand')
    assert.deepEqual(await run.counts('b'), { overridden: 1 })
  })

  await t.test('D25: is filled from the cache once cleared', async () => {
    await run.write({ id: '1', a: 'x', b: null })
    assert.deepEqual(await run.counts('b'), { missing: 1 })
    assert.deepEqual(await run.run(), COMPUTED)
    assert.equal(await run.value('1', 'b'), '<x>')
    assert.equal((await run.entry('1', 'b'))?.['cached'], true)
    assert.equal(run.api.calls()['GET /b/x'], 1)
  })

  await t.test('stays overridden with force, unless the run overwrites manual values', async () => {
    await run.write({ id: '1', b: 'by hand' })
    run.api.answer('*', { json: { value: 'forced' } })
    const before = run.api.requests.length
    assert.deepEqual(await run.run({ force: true, actor: 'user:ann' }), SKIPPED)
    assert.equal(run.api.requests.length, before)
    assert.deepEqual(await run.counts('b'), { overridden: 1 })
    assert.deepEqual(await run.run(OVERWRITE), COMPUTED)
    assert.equal(await run.value('1', 'b'), 'forced')
    assert.deepEqual(await run.counts('b'), { fresh: 1 })
  })
})

const SAME = Array.from({ length: 80 }, (_, index) => ({ id: `r${index}`, a: 'x' }))

test('D25: within a run equal requests are one call, also when it fails, and with force', async (t) => {
  const run = await openLookupSheet(t, SAME)
  for (const [round, { force, fails }] of MODES.entries()) {
    if (fails) run.api.answer('/b/x', { json: null, status: 503 })
    const { materialized, failures } = await run.run({ force })
    assert.deepEqual([materialized, failures.length], fails ? [0, 80] : [80, 0])
    assert.deepEqual(run.api.calls(), { 'GET /b/x': round + 1 })
    if (fails) {
      assert.equal(new Set(failures.map(({ recordId }) => recordId)).size, 80)
      assert.deepEqual(
        new Set(failures.map(({ error }) => error)),
        new Set([`GET ${run.api.url}/b/x -> 503`]),
      )
    } else {
      const entries = await Promise.all(SAME.map(({ id }) => run.entry(id, 'b')))
      assert.equal(entries.filter((entry) => entry?.['cached'] === false).length, 1)
      assert.deepEqual(new Set(entries.map((entry) => entry?.['value'])), new Set(['<x>']))
    }
    // Failed cells are tried again; what they are computed from is new, so that no answer is known.
    if (fails)
      await writeDerivations(run.directory, {
        'b.yaml': { ...lookup(run.api.url, 'b', 'a'), headers: { 'X-Round': `${round}` } },
      })
  }
})

const MODES = [
  { force: false, fails: false },
  { force: true, fails: false },
  { force: true, fails: true },
  { force: false, fails: true },
]

test('D25: within a run equal requests are one call also long after the first', async (t) => {
  // So many others that the last record is looked at only when the first has been stored.
  const others = Array.from({ length: 64 }, (_, index) => ({ id: `n${index}`, a: `n${index}` }))
  const records = [
    { id: 'first', a: 'x' },
    { id: 'bad-1', a: 'bad' },
    ...others,
    { id: 'last', a: 'x' },
    { id: 'bad-2', a: 'bad' },
  ]
  const run = await openLookupSheet(t, records)
  run.api.answer('/b/bad', { json: null, status: 503 })
  for (const [round, force] of [false, true].entries()) {
    const hold = run.api.hold('/b/n*')
    const running = run.run({ force })
    await hold.arrived(8)
    hold.release()
    const { failures } = await running
    assert.deepEqual(failures.map(({ recordId }) => recordId).toSorted(), ['bad-1', 'bad-2'])
    assert.deepEqual([run.api.calls()['GET /b/x'], run.api.calls()['GET /b/bad']], [round + 1, round + 1])
  }
  const cached = [(await run.entry('first', 'b'))?.['cached'], (await run.entry('last', 'b'))?.['cached']]
  assert.deepEqual(cached, [false, true])
})

test('D25, D26: targets of one call', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', "{name: b, logicalType: string, x-editable-by: ['user:*']}", 'c: string'],
    records: [...SAME, { id: 'one', a: 'one' }, { id: 'half', a: 'half', b: 'by hand' }],
    derivations: (url) => ({
      'bc.yaml': {
        targets: ['b', 'c'],
        inputs: ['a'],
        kind: 'http',
        url: `${url}/{{ a }}`,
        response_schema: { b: 'b', c: 'c' },
      },
    }),
  })

  await t.test('equal requests are one call also if one target is missing in the response', async () => {
    const recordIds = SAME.map(({ id }) => id)
    run.api.answer('/x', { json: { b: 'good' } })
    const { materialized, failures } = await run.run({ recordIds })
    assert.deepEqual([materialized, failures.length], [80, 80])
    assert.deepEqual(run.api.calls(), { 'GET /x': 1 })
    run.api.answer('/x', { json: { b: 'better', c: 'good' } })
    assert.deepEqual(await run.run({ recordIds }), {
      materialized: 80,
      skipped: 80,
      failures: [],
      totalCost: 0,
    })
    assert.deepEqual(run.api.calls(), { 'GET /x': 2 })
    assert.deepEqual(await run.record('r79'), { id: 'r79', a: 'x', b: 'good', c: 'good' })
  })

  await t.test(
    'a target that the run does not name is not written by the call, and costs none later',
    async () => {
      run.api.answer('/one', { json: { b: 'B', c: 'C' } })
      assert.deepEqual(await run.run({ recordIds: ['one'], targets: ['b'] }), COMPUTED)
      assert.deepEqual(await run.record('one'), { id: 'one', a: 'one', b: 'B', c: null })
      assert.deepEqual(await run.run({ recordIds: ['one'] }), {
        materialized: 1,
        skipped: 1,
        failures: [],
        totalCost: 0,
      })
      assert.equal(await run.value('one', 'c'), 'C')
      assert.equal(run.api.calls()['GET /one'], 1)
    },
  )

  await t.test('D28: an overridden target stays overridden when the call is made for the other', async () => {
    run.api.answer('/half', { json: null, status: 500 })
    const failed = await run.run({ recordIds: ['half'] })
    assert.deepEqual([failed.failures.map(({ field }) => field), failed.skipped], [['c'], 1])
    run.api.answer('/half', { json: { b: 'B', c: 'C' } })
    assert.deepEqual(await run.run({ recordIds: ['half'] }), {
      materialized: 1,
      skipped: 1,
      failures: [],
      totalCost: 0,
    })
    assert.deepEqual(await run.record('half'), { id: 'half', a: 'half', b: 'by hand', c: 'C' })
  })
})

test('H5, D32: editing the derivation file makes its cells stale; edited back, its results are in the cache', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }, { id: '2' }])
  const edited: JsonObject = { ...lookup(run.api.url, 'b', 'a'), headers: { 'X-Edited': 'yes' } }
  await run.run()
  assert.deepEqual(await run.counts('b'), { fresh: 1, missing: 1 })
  await writeDerivations(run.directory, { 'b.yaml': edited })
  assert.deepEqual(await run.counts('b'), { stale: 1, missing: 1 })
  assert.deepEqual(await run.run({ recordIds: ['1'] }), COMPUTED)
  assert.deepEqual(run.api.calls(), { 'GET /b/x': 2 })
  await writeDerivations(run.directory, { 'b.yaml': lookup(run.api.url, 'b', 'a') })
  assert.deepEqual(await run.run({ recordIds: ['1'] }), COMPUTED)
  assert.deepEqual(run.api.calls(), { 'GET /b/x': 2 })
})

test('D26: a cached result that a tightened contract refuses is not written, and is requested anew', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  run.api.answer('/b/x', { json: { value: 'a long value' } })
  await run.run()
  await run.delete('1')
  const short = '{name: b, logicalType: string, logicalTypeOptions: {maxLength: 3}}'
  await run.edit('contract.yaml', contractText(['{name: a, logicalType: string}', short]))
  await run.write({ id: '2', a: 'x' })
  const { failures } = await run.run()
  assert.equal(failures[0]?.errorType, 'ValidationError')
  assert.equal(await run.value('2', 'b'), null)
  run.api.answer('/b/x', { json: { value: 'new' } })
  assert.deepEqual(await run.run(), COMPUTED)
  assert.equal(await run.value('2', 'b'), 'new')
})

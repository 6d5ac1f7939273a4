import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { contractText } from '../support/contract-with.ts'
import { lookup, openLookupSheet, openRunSheet, writeDerivations } from '../support/run-fixture.ts'

test('D24: the input hash in provenance is the SHA-256 of canonical JSON over body, file, inputs and URL', async (t) => {
  const { run, directory } = await openPostSheet(t)
  await run.run()
  const file = createHash('sha256').update(await readFile(join(directory, 'derivations/b.yaml'))).digest('hex')
  const canonical =
    `{"body":{"a":"x","n":1.5},"derivation":"${file}",` +
    `"inputs":{"a":"x","n":1.5,"u":null},"url":"${run.api.url}/b/x"}`
  const entry = await run.entry('1', 'b')
  assert.equal(entry?.['input_hash'], `sha256:${createHash('sha256').update(canonical).digest('hex')}`)
  assert.equal(run.api.requests[0]?.body, '{"n":1.5,"a":"x"}')
})

async function openPostSheet(t: Parameters<typeof openRunSheet>[0]) {
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
  return { run, directory: run.directory }
}

test('D24: a field that only a placeholder names is part of the hash, so that writing it recomputes the cell', async (t) => {
  const { run } = await openPostSheet(t)
  await run.run()
  await run.write({ id: '1', n: 2 })
  assert.deepEqual(await run.counts('b'), { stale: 1 })
  await run.run()
  assert.equal(run.api.requests[1]?.body, '{"n":2,"a":"x"}')
})

test('D25, H3: a cell whose inputs are as at its last computation is skipped without a call', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  assert.deepEqual(await run.run(), { materialized: 1, skipped: 0, failures: [], totalCost: 0 })
  assert.deepEqual(await run.run(), { materialized: 0, skipped: 1, failures: [], totalCost: 0 })
  await run.write({ id: '1', a: 'y' })
  await run.write({ id: '1', a: 'x' })
  assert.deepEqual(await run.counts('b'), { stale: 1 })
  assert.deepEqual(await run.run(), { materialized: 0, skipped: 1, failures: [], totalCost: 0 })
  assert.deepEqual(await run.counts('b'), { fresh: 1 })
  assert.deepEqual(run.api.calls(), { 'GET /b/x': 1 })
  assert.equal((await run.history('1', 'b')).length, 1)
})

test('D25, H4: another record with the same request is filled from the cache, and its provenance says so', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  await run.run()
  await run.write({ id: '2', a: 'x' })
  assert.deepEqual(await run.run(), { materialized: 1, skipped: 1, failures: [], totalCost: 0 })
  assert.deepEqual(run.api.calls(), { 'GET /b/x': 1 })
  assert.equal(await run.value('2', 'b'), '<x>')
  const [first, second] = [await run.entry('1', 'b'), await run.entry('2', 'b')]
  assert.equal(first?.['cached'], false)
  assert.equal(second?.['cached'], true)
  for (const name of ['input_hash', 'derivation', 'method', 'url', 'status', 'duration_ms', 'source']) {
    assert.deepEqual(second?.[name], first?.[name], name)
  }
})

test('D25, D28: a cell that was overridden and cleared is filled from the cache again', async (t) => {
  const run = await openOverridable(t)
  await run.run()
  await run.write({ id: '1', b: 'by hand' })
  assert.deepEqual(await run.counts('b'), { overridden: 1 })
  await run.write({ id: '1', b: null })
  assert.deepEqual(await run.counts('b'), { missing: 1 })
  assert.deepEqual(await run.run(), { materialized: 1, skipped: 0, failures: [], totalCost: 0 })
  assert.equal(await run.value('1', 'b'), '<x>')
  assert.equal((await run.entry('1', 'b'))?.['cached'], true)
  assert.deepEqual(run.api.calls(), { 'GET /b/x': 1 })
})

async function openOverridable(t: Parameters<typeof openRunSheet>[0]) {
  const run = await openRunSheet(t, {
    properties: ['a: string', "{name: b, logicalType: string, x-editable-by: ['user:*']}"],
    records: [{ id: '1', a: 'x' }],
    derivations: (url) => ({ 'b.yaml': lookup(url, 'b', 'a') }),
  })
  run.api.answer('*', { json: { value: '<x>' } })
  return run
}

test('D28: an overridden cell is skipped, also when its input is written; only force recomputes it', async (t) => {
  const run = await openOverridable(t)
  await run.write({ id: '1', b: 'by hand' })
  await run.write({ id: '1', a: 'y' })
  assert.deepEqual(await run.run(), { materialized: 0, skipped: 1, failures: [], totalCost: 0 })
  assert.deepEqual(run.api.calls(), {})
  assert.deepEqual(await run.run({ force: true }), { materialized: 1, skipped: 0, failures: [], totalCost: 0 })
  assert.equal(await run.value('1', 'b'), '<x>')
  assert.deepEqual(await run.counts('b'), { fresh: 1 })
})

test('D28: a forced call that fails leaves an overridden cell overridden', async (t) => {
  const run = await openOverridable(t)
  await run.write({ id: '1', b: 'by hand' })
  run.api.answer('*', { json: null, status: 500 })
  assert.equal((await run.run({ force: true })).failures.length, 1)
  assert.equal(await run.value('1', 'b'), 'by hand')
  assert.deepEqual(await run.counts('b'), { overridden: 1 })
})

test('D25, H5: force calls again, stores the new answer, and later records get that one', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  await run.run()
  run.api.answer('/b/x', { json: { value: 'new' } })
  await run.run()
  assert.equal(await run.value('1', 'b'), '<x>')
  assert.deepEqual(await run.run({ force: true }), { materialized: 1, skipped: 0, failures: [], totalCost: 0 })
  assert.equal(await run.value('1', 'b'), 'new')
  assert.equal((await run.entry('1', 'b'))?.['cached'], false)
  await run.write({ id: '2', a: 'x' })
  await run.run()
  assert.equal(await run.value('2', 'b'), 'new')
  assert.deepEqual(run.api.calls(), { 'GET /b/x': 2 })
})

test('D25: force leaves a good value and its cache alone when the call fails', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  await run.run()
  run.api.answer('/b/x', { json: null, status: 503 })
  assert.equal((await run.run({ force: true })).failures.length, 1)
  assert.equal(await run.value('1', 'b'), '<x>')
  assert.deepEqual(await run.counts('b'), { failed: 1 })
  assert.deepEqual(await run.run(), { materialized: 0, skipped: 1, failures: [], totalCost: 0 })
  assert.deepEqual(await run.counts('b'), { fresh: 1 })
  await run.write({ id: '2', a: 'x' })
  assert.deepEqual(await run.run(), { materialized: 1, skipped: 1, failures: [], totalCost: 0 })
})

// More records than are under way at a time, so that some start when the first call has long been answered.
const SAME = Array.from({ length: 150 }, (_, index) => ({ id: `r${index}`, a: 'x' }))

for (const force of [false, true]) {
  test(`D25: within a run ${force ? 'with force ' : ''}equal requests are one call`, async (t) => {
    const run = await openLookupSheet(t, SAME)
    const result = await run.run({ force })
    assert.deepEqual(result, { materialized: 150, skipped: 0, failures: [], totalCost: 0 })
    assert.deepEqual(run.api.calls(), { 'GET /b/x': 1 })
    const entries = await Promise.all(SAME.map(({ id }) => run.entry(id, 'b')))
    assert.equal(entries.filter((entry) => entry?.['cached'] === false).length, 1)
    assert.deepEqual(new Set(entries.map((entry) => entry?.['value'])), new Set(['<x>']))
    if (!force) return
    await run.run({ force })
    assert.deepEqual(run.api.calls(), { 'GET /b/x': 2 })
  })

  test(`D25: within a run ${force ? 'with force ' : ''}equal requests are one call also when it fails`, async (t) => {
    const run = await openLookupSheet(t, SAME)
    run.api.answer('/b/x', { json: null, status: 503 })
    const result = await run.run({ force })
    assert.equal(result.failures.length, 150)
    assert.deepEqual(new Set(result.failures.map(({ error }) => error)), new Set([`GET ${run.api.url}/b/x -> 503`]))
    assert.deepEqual(run.api.calls(), { 'GET /b/x': 1 })
    await run.run({ force })
    assert.deepEqual(run.api.calls(), { 'GET /b/x': 2 })
  })
}

test('D25, D26: within a run equal requests are one call also when one of two targets is not in the answer', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'b: string', 'c: string'],
    records: SAME,
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
  run.api.answer('/x', { json: { b: 'good' } })
  const first = await run.run()
  assert.deepEqual([first.materialized, first.failures.length], [150, 150])
  assert.deepEqual(run.api.calls(), { 'GET /x': 1 })
  run.api.answer('/x', { json: { b: 'better', c: 'good' } })
  assert.deepEqual(await run.run(), { materialized: 150, skipped: 150, failures: [], totalCost: 0 })
  assert.deepEqual(run.api.calls(), { 'GET /x': 2 })
  assert.deepEqual([await run.value('r0', 'b'), await run.value('r0', 'c')], ['good', 'good'])
})

test('D25: targets that a run does not name are not written by its calls, and cost none later', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'b: string', 'c: string'],
    records: [{ id: '1', a: 'x' }],
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
  run.api.answer('/x', { json: { b: 'B', c: 'C' } })
  assert.deepEqual(await run.run({ targets: ['b'] }), { materialized: 1, skipped: 0, failures: [], totalCost: 0 })
  assert.deepEqual(await run.record('1'), { id: '1', a: 'x', b: 'B', c: null })
  assert.deepEqual(await run.run(), { materialized: 1, skipped: 1, failures: [], totalCost: 0 })
  assert.equal(await run.value('1', 'c'), 'C')
  assert.deepEqual(run.api.calls(), { 'GET /x': 1 })
})

test('H5, D32: editing the derivation file makes its cells stale, and they are computed anew', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }, { id: '2' }])
  await run.run()
  assert.deepEqual(await run.counts('b'), { fresh: 1, missing: 1 })
  await writeDerivations(run.directory, { 'b.yaml': { ...lookup(run.api.url, 'b', 'a'), headers: { 'X-Edited': 'yes' } } })
  assert.deepEqual(await run.counts('b'), { stale: 1, missing: 1 })
  assert.deepEqual(await run.run(), { materialized: 1, skipped: 1, failures: [], totalCost: 0 })
  assert.deepEqual(run.api.calls(), { 'GET /b/x': 2 })
})

test('D24, D25: a derivation file edited back finds its old answers in the cache', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  await run.run()
  await writeDerivations(run.directory, { 'b.yaml': { ...lookup(run.api.url, 'b', 'a'), headers: { 'X-Edited': 'yes' } } })
  await run.run()
  await writeDerivations(run.directory, { 'b.yaml': lookup(run.api.url, 'b', 'a') })
  assert.deepEqual(await run.run(), { materialized: 1, skipped: 0, failures: [], totalCost: 0 })
  assert.deepEqual(run.api.calls(), { 'GET /b/x': 2 })
})

test('D26: an answer in the cache that a tightened contract refuses is not written', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  run.api.answer('/b/x', { json: { value: 'a long value' } })
  await run.run()
  await run.delete('1')
  const tight = contractText(['{name: a, logicalType: string}', '{name: b, logicalType: string, logicalTypeOptions: {maxLength: 3}}'])
  await writeFile(join(run.directory, 'contract.yaml'), tight)
  await run.write({ id: '2', a: 'x' })
  const { failures } = await run.run()
  assert.equal(failures[0]?.errorType, 'ValidationError')
  assert.equal(await run.value('2', 'b'), null)
  run.api.answer('/b/x', { json: { value: 'new' } })
  await run.run()
  assert.equal(await run.value('2', 'b'), 'new')
})

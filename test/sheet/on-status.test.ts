import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planMaterialize } from '../../src/sheet/runs/plan-materialize.ts'
import { lookup, openRunSheet, writeDerivations } from '../support/run-fixture.ts'

const ALL = { targets: null, recordIds: null, force: false } as const

test('on_status: a 404 that means "does not exist" is a value, with its status in the provenance, and is paid for once', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'b: string', 'c: string'],
    records: ['1', '2', '3'].map((id) => ({ id, a: id })),
    // Both make the same requests.
    derivations: (url) => ({
      'b.yaml': { ...lookup(url, 'b', 'a'), on_status: { 404: null } },
      'c.yaml': { ...lookup(url, 'c', 'a'), url: `${url}/b/{{ a }}` },
    }),
  })
  run.api.answer('/b/1', { json: { value: 'found' } })
  const targets = ['b']
  const outcome = await run.run({ targets, stopAfterFailures: 1 })
  assert.deepEqual(outcome, { materialized: 3, skipped: 0, failures: [], totalCost: 0 })
  assert.deepEqual(await run.counts('b'), { fresh: 3 })
  const entry = await run.entry('2', 'b')
  assert.deepEqual([entry?.['value'], entry?.['status'], entry?.['cached']], [null, 404, false])
  assert.equal((await run.run({ targets })).skipped, 3)
  assert.equal(run.api.requests.length, 3)

  // The responses are kept: another derivation says what their status means for it.
  const { targets: plan, calls } = await planMaterialize(run.sheet, { ...ALL, reuseResponses: true })
  assert.deepEqual([calls, plan['c']?.cached], [0, 3])
  const reused = await run.run({ targets: ['c'], reuseResponses: true })
  assert.equal(reused.materialized, 1)
  assert.match(reused.failures[0]?.error ?? '', /\/b\/[23] -> 404$/)
  await writeDerivations(run.directory, {
    'c.yaml': {
      ...lookup(run.api.url, 'c', 'a'),
      url: `${run.api.url}/b/{{ a }}`,
      on_status: { 404: 'none' },
    },
  })
  assert.equal((await run.run({ targets: ['c'], reuseResponses: true })).materialized, 3)
  assert.equal(await run.value('3', 'c'), 'none')
  assert.equal((await run.entry('3', 'c'))?.['status'], 404)
  assert.equal(run.api.requests.length, 3)
})

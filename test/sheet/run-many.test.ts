import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerLookups, lookup, openRunSheet } from '../support/run-fixture.ts'

test('H3, D25, D30: 2,000 records with two derivations are 4,000 calls, at most 8 at a time, each once', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'b: string', 'c: string'],
    records: Array.from({ length: 2000 }, (_, index) => ({ id: `r${index}`, a: `${index}` })),
    derivations: (url) => ({ 'b.yaml': lookup(url, 'b', 'a'), 'c.yaml': lookup(url, 'c', 'a') }),
  })
  answerLookups(run.api)
  assert.deepEqual(await run.run(), { materialized: 4000, skipped: 0, failures: [], totalCost: 0 })
  assert.ok(run.api.peak <= 8, `${run.api.peak} calls at a time`)
  assert.ok(run.api.peak > 1, 'calls go out side by side')
  assert.equal(run.api.requests.length, 4000)
  assert.equal(Object.keys(run.api.calls()).length, 4000)
  assert.deepEqual([await run.counts('b'), await run.counts('c')], [{ fresh: 2000 }, { fresh: 2000 }])
  for (const index of [0, 255, 256, 1999]) {
    const expected = { id: `r${index}`, a: `${index}`, b: `<${index}>`, c: `<${index}>` }
    assert.deepEqual(await run.record(`r${index}`), expected)
  }
  assert.deepEqual(await run.run(), { materialized: 0, skipped: 4000, failures: [], totalCost: 0 })
  assert.equal(run.api.requests.length, 4000)
})

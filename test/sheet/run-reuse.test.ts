import assert from 'node:assert/strict'
import { suite, test, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { listRuns } from '../../src/sheet/runs/read-runs.ts'
import { planMaterialize } from '../../src/sheet/runs/plan-materialize.ts'
import type { RunPlan } from '../../src/derivation/run-request.ts'
import { SECRET_LENGTH } from '../../src/derivation/transport/guard/secret-guard.ts'
import {
  lookup,
  openRunSheet,
  writeDerivations,
  type DerivationFile,
  type RunSheet,
} from '../support/run-fixture.ts'

const RECORDS = ['1', '2', '3'].map((id) => ({ id, a: `x${id}` }))
const WHOLE = { targets: null, recordIds: null, force: false }
const REUSE = { reuseResponses: true }

/** One answer that several fields can be taken from. */
function open(t: TestContext, file: (url: string) => DerivationFile): Promise<RunSheet> {
  return openRunSheet(t, {
    properties: ['a: string', 'b: string', 'c: string'],
    records: RECORDS,
    derivations: (url) => ({ 'b.yaml': file(url) }),
  })
}

const both = (url: string): DerivationFile => {
  const { response_path: _, ...file } = lookup(url, 'b', 'a')
  return { ...file, targets: ['b', 'c'], response_schema: { b: 'value', c: 'more.0' } }
}

function plan({ sheet }: RunSheet, more = {}): Promise<RunPlan> {
  return planMaterialize(sheet, { ...WHOLE, ...more })
}

async function sent({ api }: RunSheet): Promise<number> {
  await nextTurn()
  return api.requests.length
}

suite('reused responses', () => {
  test('a new target from the same responses costs the calls again, or nothing with kept responses', async (t) => {
    const run = await open(t, (url) => lookup(url, 'b', 'a'))
    run.api.answer('*', ({ path }) => ({ json: { value: path, more: [`more of ${path}`] } }))
    await run.run()
    const first = await run.entry('1', 'b')
    await writeDerivations(run.directory, { 'b.yaml': both(run.api.url) })
    const again = await plan(run)
    const reusing = await plan(run, REUSE)
    assert.deepEqual([again.calls, reusing.calls], [3, 0])
    const kept = again.targets['b']?.kept
    assert.equal(kept?.calls, 3)
    assert.deepEqual(reusing.targets['c'], {
      compute: 0,
      cached: 3,
      skipped: 0,
      kept: again.targets['c']?.kept,
    })
    assert.ok(kept !== undefined && kept.oldest <= kept.newest)
    assert.deepEqual(await run.run(REUSE), { materialized: 6, skipped: 0, failures: [], totalCost: 0 })
    assert.equal(await sent(run), 3)
    assert.deepEqual(await run.record('2'), { id: '2', a: 'x2', b: '/b/x2', c: 'more of /b/x2' })
    const entry = await run.entry('1', 'c')
    assert.equal(entry?.['cached'], true)
    assert.equal(entry['received_at'], first?.['at'], 'the time of the response, not of the run')
    assert.deepEqual([entry['status'], entry['url']], [200, first?.['url']])
    const { runs } = await listRuns(run.sheet, { limit: null, cursor: null })
    assert.deepEqual(
      runs.map(({ reuseResponses, calls }) => [reuseResponses, calls]),
      [
        [true, 0],
        [false, 3],
      ],
    )
  })

  test('H4, H5: kept responses are used only on request', async (t) => {
    const run = await open(t, (url) => lookup(url, 'b', 'a'))
    run.api.answer('*', { json: { value: 'old' } })
    await run.run()
    run.api.answer('*', { json: { value: 'new' } })
    await run.edit('derivations/b.yaml', (text) => `# a comment\n${text}`)
    await run.run()
    assert.equal(await sent(run), 6)
    assert.equal(await run.value('1', 'b'), 'new')
    await run.edit('derivations/b.yaml', (text) => `# another\n${text}`)
    await run.run({ ...REUSE, force: true })
    assert.equal(await sent(run), 6)
    assert.equal(await run.value('1', 'b'), 'new', 'the latest response is kept')
  })

  test('a kept response is evaluated like a new one: paths and the contract apply', async (t) => {
    const run = await open(t, (url) => lookup(url, 'b', 'a'))
    run.api.answer('*', { json: { value: 'v', more: [] } })
    await run.run()
    await writeDerivations(run.directory, { 'b.yaml': both(run.api.url) })
    const { materialized, failures } = await run.run(REUSE)
    assert.equal(materialized, 3)
    assert.match(failures[0]?.error ?? '', /no "more.0" in the response/)
    assert.equal(await sent(run), 3)
  })

  test('only successful responses are kept, also those whose values failed', async (t) => {
    const run = await open(t, (url) => lookup(url, 'b', 'a'))
    run.api.answer('/b/x1', { json: { error: 'none' }, status: 404 })
    run.api.answer('/b/x2', { text: 'no JSON' })
    run.api.answer('/b/x3', { json: { other: 1 } })
    assert.equal((await run.run()).failures.length, 3)
    assert.equal((await plan(run)).targets['b']?.kept?.calls, 1)
    const before = await sent(run)
    await run.run(REUSE)
    assert.equal((await sent(run)) - before, 2)
  })

  test('D23: secrets are not part of a kept response, and a response that repeats one is not kept', async (t) => {
    const secret = 'geheim-0123456789'
    assert.ok(secret.length >= SECRET_LENGTH)
    process.env['REUSE_KEY'] = secret
    t.after(() => delete process.env['REUSE_KEY'])
    const withKey = (url: string): DerivationFile => ({
      ...lookup(url, 'b', 'a'),
      headers: { Authorization: 'Bearer {{ env.REUSE_KEY }}' },
    })
    const run = await open(t, withKey)
    run.api.answer('/b/x1', { json: { value: 'v', echo: { key: secret } } })
    run.api.answer('/b/x2', { text: `{"value": "v", "echo": "${secret}", "echo": "gone"}` })
    run.api.answer('/b/x3', { json: { value: 'v' } })
    await run.run()
    await run.edit('derivations/b.yaml', (text) => `# edited\n${text}`)
    assert.equal((await plan(run)).targets['b']?.kept?.calls, 1)
    // Neither is the secret needed, nor is it another request with another one.
    process.env['REUSE_KEY'] = 'another-0123456789'
    assert.equal((await plan(run)).targets['b']?.kept?.calls, 1)
    delete process.env['REUSE_KEY']
    assert.equal((await run.run({ recordIds: ['3'], ...REUSE })).materialized, 1)
    assert.equal(await sent(run), 3)
  })
})

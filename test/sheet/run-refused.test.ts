import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { watchConnections } from '../../src/derivation/transport/testing/connection-watch.ts'
import { usedResources } from '../../src/sheet/calls/used-resources.ts'
import { planMaterialize } from '../../src/sheet/runs/plan-materialize.ts'
import { parseStub, NetworkTransport } from '../../src/sheet/transports.ts'
import { openOnEngine } from '../support/engine.ts'
import { startLocalApi } from '../support/local-api.ts'
import { onEnd } from '../support/on-end.ts'
import { answerLookups, lookup, openRunSheet, RunSheet, writeDerivations } from '../support/run-fixture.ts'

const METADATA = 'http://169.254.169.254/latest'
const WHY = '169.254.169.254 is a link-local or cloud metadata address, which is never called'

/** A sheet whose `b` is looked up by `a`, `c` by `a` at a cloud's metadata service, and `d` by `c`. */
async function openMixedSheet(t: TestContext): Promise<RunSheet> {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'b: string', 'c: string', 'd: string'],
    records: [
      { id: '1', a: 'x' },
      { id: '2', a: 'y' },
    ],
    derivations: (url) => ({
      'b.yaml': lookup(url, 'b', 'a'),
      'c.yaml': {
        ...lookup(METADATA, 'c', 'a'),
        headers: { Authorization: '{{ env.COLOPHON_TEST_UNSET }}' },
      },
      'd.yaml': lookup(url, 'd', 'c'),
    }),
  })
  answerLookups(run.api)
  return run
}

test('H7: cells whose call is refused fail with the reason, no socket is opened for them, and the other cells are computed', async (t) => {
  const watch = watchConnections(t)
  const run = await openMixedSheet(t)
  const all = { targets: null, recordIds: null, force: false }
  const plan = await planMaterialize(run.sheet, all)
  assert.deepEqual(
    [plan.calls, plan.atMost, plan.targets['c']],
    [2, false, { compute: 0, cached: 0, skipped: 2 }],
  )

  const result = await run.run()
  assert.deepEqual(result, {
    materialized: 2,
    skipped: 2,
    failures: ['x', 'y'].map((a, index) => ({
      recordId: String(index + 1),
      field: 'c',
      error: `GET ${METADATA}/c/${a} -> refused: ${WHY}`,
      errorType: 'ServiceError',
      reason: 'refused',
    })),
    totalCost: 0,
  })
  assert.deepEqual(await run.counts('c'), { failed: 2 })
  assert.match((await run.status('c')).lastError ?? '', /-> refused: /)
  assert.deepEqual(await run.counts('d'), { missing: 2 })
  assert.deepEqual(new Set(watch.attempts), new Set(['127.0.0.1']))
})

test('D23: a refused derivation needs no environment variable, and uses none of the calls that a run may make', async (t) => {
  const run = await openMixedSheet(t)
  const { materialized, failures } = await run.run({ maxCalls: 2 })
  assert.deepEqual([materialized, failures.length], [2, 2])
  assert.deepEqual((await run.run({ targets: ['c'], maxCalls: 0 })).failures.length, 2)
})

/** The same sheet, opened anew with what may be called. */
async function reopen(
  t: TestContext,
  { directory, api, sheet }: RunSheet,
  allowed: readonly string[],
): Promise<RunSheet> {
  await sheet.close()
  const transport = new NetworkTransport({ allowedHosts: new Set(allowed) })
  const again = await openOnEngine(directory, { transport })
  onEnd(t, () => again.close())
  return RunSheet.of({ sheet: again, api, directory })
}

test('--offline: cells are still filled from the cache, and no host is called', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'b: string'],
    records: [{ id: '1', a: 'x' }],
    derivations: (url) => ({ 'b.yaml': lookup(url, 'b', 'a') }),
  })
  answerLookups(run.api)
  await run.run()
  await run.write({ id: 'cached', a: 'x' }, { id: 'not cached', a: 'y' })
  const offline = await reopen(t, run, [])
  const plan = await planMaterialize(offline.sheet, { targets: null, recordIds: null, force: false })
  assert.deepEqual(plan.targets['b'], { compute: 0, cached: 1, skipped: 2 })
  const { materialized, failures } = await offline.run()
  assert.deepEqual([materialized, await offline.value('cached', 'b')], [1, await offline.value('1', 'b')])
  assert.deepEqual(
    failures.map(({ recordId, error }) => [recordId, error]),
    [['not cached', `GET ${run.api.url}/b/y -> refused: --offline lets derivations call nobody`]],
  )
  assert.equal(run.api.requests.length, 1)

  const online = await reopen(t, offline, [run.api.host])
  assert.deepEqual((await online.run()).materialized, 1)
  assert.deepEqual(await online.counts('b'), { fresh: 3 })
})

test('--allow-net: derivations call the listed hosts, the others fail, and the sheet reports which', async (t) => {
  const other = await startLocalApi(t)
  answerLookups(other)
  const first = await openRunSheet(t, {
    properties: ['a: string', 'b: string', 'c: string'],
    records: [{ id: '1', a: 'x' }],
    derivations: (url) => ({ 'b.yaml': lookup(url, 'b', 'a'), 'c.yaml': lookup(other.url, 'c', 'a') }),
  })
  answerLookups(first.api)
  const run = await reopen(t, first, [first.api.host])
  const refusal = `--allow-net does not list ${other.host}`
  const hosts = await usedResources(run.sheet)
  assert.deepEqual(
    new Map(hosts.map(({ name, refusal: why }) => [name, why])),
    new Map([
      [run.api.host, null],
      [other.host, refusal],
    ]),
  )
  const { materialized, failures } = await run.run()
  assert.equal(materialized, 1)
  assert.deepEqual(
    failures.map(({ error }) => error),
    [`GET ${other.url}/c/x -> refused: ${refusal}`],
  )
  assert.deepEqual([run.api.requests.length, other.requests.length], [1, 0])

  // An edit of the files cannot widen what was given on the command line.
  await writeDerivations(run.directory, { 'b.yaml': lookup(other.url, 'b', 'a') })
  assert.equal(
    (await run.run({ targets: ['b'] })).failures[0]?.error,
    `GET ${other.url}/b/x -> refused: ${refusal}`,
  )
  assert.equal(other.requests.length, 0)
})

test('the hosts that derivations call are listed once each; none while a file is broken, none refused with a stub', async (t) => {
  const run = await openRunSheet(
    t,
    {
      properties: ['a: string', 'b: string', 'c: string', 'd: string'],
      records: [],
      derivations: () => ({
        'b.yaml': lookup('https://z.example', 'b', 'a'),
        'c.yaml': lookup('HTTPS://Z.example:443', 'c', 'a'),
        'd.yaml': lookup('http://2852039166', 'd', 'a'),
      }),
    },
    { transport: parseStub('{"fallback": {"value": 1}}') },
  )
  assert.deepEqual(await usedResources(run.sheet), [
    { type: 'host', name: '169.254.169.254:80', refusal: null },
    { type: 'host', name: 'z.example:443', refusal: null },
  ])
  await writeDerivations(run.directory, { 'b.yaml': { targets: ['b'] } })
  assert.deepEqual(await usedResources(run.sheet), [])
})

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { ColophonProcess } from '../support/colophon-process.ts'
import { startLocalApi, type LocalApi } from '../support/local-api.ts'
import { startPostgres } from '../support/postgres.ts'
import type { Ran } from '../support/run-colophon.ts'
import { runCommand } from '../support/run-command.ts'
import { OFFERS, writeSheet } from '../support/sheet-fixture.ts'

const postgres = await startPostgres()

function run(store: string, ...args: readonly string[]): Promise<Ran> {
  return runCommand(args, { env: { COLOPHON_STORE: store, COLOPHON_ACTOR: 'human:ann' } })
}

/** A sheet in a store, whose derivation calls a local API; `more` is said of its request as well. */
async function pushed(t: TestContext, more = ''): Promise<{ api: LocalApi; store: string }> {
  const api = await startLocalApi(t)
  api.answer('*', { json: { rate: 2 } })
  const rate = (OFFERS.derivations['rate.yaml'] ?? '').replace('https://rates.example', api.url) + more
  const store = postgres.freshUrl()
  const { code, stderr } = await run(
    store,
    'push',
    await writeSheet(t, { derivations: { 'rate.yaml': rate } }),
  )
  assert.deepEqual([code, stderr], [0, ''])
  return { api, store }
}

/** A worker that is there; the store is in its environment. */
async function startWorker(
  t: TestContext,
  store: string,
  ...args: readonly string[]
): Promise<ColophonProcess> {
  const worker = new ColophonProcess(t, ['worker', ...args], { env: { COLOPHON_STORE: store } })
  await worker.said('Colophon works for sheet_')
  return worker
}

test('a worker prints its sheet and the hosts that it calls, computes, and stops at a signal', async (t) => {
  const { api, store } = await pushed(t)
  const worker = await startWorker(t, store)
  await worker.said(`Its derivations call ${api.host}\n`)
  const { code, stdout } = await run(store, 'materialize', '--yes')
  assert.equal(code, 0)
  assert.equal((JSON.parse(stdout) as { materialized: number }).materialized, 3)
  worker.kill('SIGTERM')
  assert.equal((await worker.end()).code, 0)
})

test('a stopping worker waits for calls under way, and stores their results', async (t) => {
  const { api, store } = await pushed(t)
  const worker = await startWorker(t, store)
  const hold = api.hold('/EUR')
  const running = run(store, 'materialize', '--yes', '--target', 'rate')
  await hold.arrived()
  worker.kill('SIGTERM')
  await worker.logged('waiting for calls under way')
  hold.release()
  assert.equal((await worker.end()).code, 0)
  assert.equal((await running).code, 0)
  assert.equal(api.calls()['GET /EUR'], 1)
})

test('a worker that may call no host fails each cell with that reason', async (t) => {
  const { api, store } = await pushed(t)
  await startWorker(t, store, '--offline')
  const { code, stdout } = await run(store, 'materialize', '--yes')
  assert.equal(code, 3)
  const { failures } = JSON.parse(stdout) as { failures: readonly { error: string }[] }
  assert.equal(failures.length, 3)
  for (const { error } of failures) assert.match(error, /refused: /)
  assert.deepEqual(api.requests, [])
})

test('a missing requirement of the calls at the worker ends the run with its name', async (t) => {
  const { api, store } = await pushed(t, 'headers: { authorization: "Bearer {{ env.RATES_TOKEN }}" }\n')
  await startWorker(t, store)
  const { code, stderr } = await run(store, 'materialize', '--yes')
  assert.equal(code, 1)
  assert.match(stderr, /RATES_TOKEN/)
  assert.deepEqual(api.requests, [])
})

test('a worker requires an existing store, and the sheet of a directory has no workers', async (t) => {
  const nowhere = await run(postgres.freshUrl(), 'worker')
  assert.deepEqual([nowhere.code, nowhere.stdout], [1, ''])
  assert.match(
    nowhere.stderr,
    /^colophon: there is no sheet in the schema "\w+" of the database; put one there with: colophon push/,
  )
  const none = await runCommand(['worker'])
  assert.equal(none.code, 2)
  assert.match(none.stderr, /no store is given; use --store/)
  const directory = await runCommand(['worker', '--store', await writeSheet(t)])
  assert.equal(directory.code, 2)
  assert.match(directory.stderr, /is not the URL of a store/)
})

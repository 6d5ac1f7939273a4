import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { ColophonProcess } from '../support/colophon-process.ts'
import { CSRF } from '../support/http-fixture.ts'
import { startLocalApi } from '../support/local-api.ts'
import { startPostgres } from '../support/postgres.ts'
import type { Ran } from '../support/run-colophon.ts'
import { runCommand } from '../support/run-command.ts'
import { OFFERS, writeSheet } from '../support/sheet-fixture.ts'
import { temporaryDirectory } from '../support/temporary-file.ts'

const postgres = await startPostgres()

/** Runs a command with the store in the environment, where nobody sees its password. */
function run(store: string, ...args: readonly string[]): Promise<Ran> {
  return runCommand(args, { env: { COLOPHON_STORE: store, COLOPHON_ACTOR: 'human:ann' } })
}

/** Returns the output of a successful command, as JSON. */
async function answer(ran: Promise<Ran>): Promise<unknown> {
  const { code, stdout, stderr } = await ran
  assert.deepEqual([code, stderr], [0, ''])
  return JSON.parse(stdout)
}

async function fault(ran: Promise<Ran>): Promise<string> {
  const { code, stdout, stderr } = await ran
  assert.deepEqual([code, stdout], [1, ''])
  return stderr
}

/** A sheet whose derivation calls a local API, and a store that it was pushed into. */
async function pushed(t: TestContext): Promise<{ directory: string; store: string }> {
  const api = await startLocalApi(t)
  api.answer('*', { json: { rate: 2 } })
  const rate = (OFFERS.derivations['rate.yaml'] ?? '').replace('https://rates.example', api.url)
  const directory = await writeSheet(t, { derivations: { 'rate.yaml': rate } })
  const store = postgres.freshUrl()
  const report = (await answer(run(store, 'push', directory))) as { revision: number; records: number }
  assert.deepEqual([report.revision, report.records], [1, 3])
  return { directory, store }
}

test('every command works on a sheet in a store, and a pull has all of their changes', async (t) => {
  const { directory, store } = await pushed(t)
  const [, schema] = /schema=(\w+)/.exec(store) ?? []
  const server = new ColophonProcess(t, ['serve', '--store', store, '--port', '0', '--actor', 'human:bob'])
  const url = `http://127.0.0.1:${await server.port()}`
  const other = new ColophonProcess(t, ['serve', '--port', '0'], { env: { COLOPHON_STORE: store } })
  const otherUrl = `http://127.0.0.1:${await other.port()}`
  const response = await fetch(`${url}/api/records`, {
    method: 'POST',
    headers: { ...CSRF, 'content-type': 'application/json' },
    body: JSON.stringify({ records: [{ id: 'h', title: 'over HTTP', currency: 'EUR' }] }),
  })
  assert.equal(response.status, 200, await response.text())
  const input = join(directory, 'more.ndjson')
  await writeFile(input, '{"id":"t","title":"at the terminal","currency":"USD"}\n')
  assert.deepEqual(await answer(run(store, 'upsert', input)), { inserted: 1, updated: 0, total: 5 })
  const ran = (await answer(run(store, 'materialize', '--yes'))) as { materialized: number }
  assert.equal(ran.materialized, 5)
  await answer(run(store, 'delete', 'b', '--yes'))
  const rows = await answer(run(store, 'query', 'SELECT id, rate FROM records ORDER BY id'))
  assert.deepEqual((rows as { rows: unknown }).rows, [
    { id: 'a', rate: 2 },
    { id: 'c', rate: 2 },
    { id: 'h', rate: 2 },
    { id: 't', rate: 2 },
  ])
  const { records } = (await answer(run(store, 'list', '--all'))) as { records: unknown }
  for (const address of [url, otherUrl]) {
    const listed = (await (await fetch(`${address}/api/records`)).json()) as { records: unknown }
    assert.deepEqual(listed.records, records)
  }
  const one = await answer(run(store, 'get', 't'))
  assert.equal((one as { title: string }).title, 'at the terminal')
  assert.deepEqual(await answer(run(store, 'validate', '--records')), { faults: [], valid: true })
  await answer(run(store, 'revert', '--run', '1'))

  const pulled = join(await temporaryDirectory(t), 'pulled')
  await answer(run(store, 'pull', pulled))
  const fromDirectory = (...args: readonly string[]): Promise<unknown> => answer(runCommand(args))
  for (const [command, ...args] of [
    ['list', '--all', '--format', 'ndjson'],
    ['runs'],
    ['provenance', 't', 'rate', '--history'],
  ] as const) {
    const inStore = await run(store, command, ...args)
    assert.equal(inStore.code, 0)
    assert.deepEqual(await runCommand([command, pulled, ...args]), inStore, command)
  }
  for (const file of ['contract.yaml', 'derivations/rate.yaml']) {
    assert.deepEqual(await readFile(join(pulled, file)), await readFile(join(directory, file)))
  }
  assert.deepEqual(await fromDirectory('validate', pulled, '--records'), { faults: [], valid: true })
  server.kill('SIGTERM')
  assert.match((await server.end()).stdout, new RegExp(`^Colophon serves ${schema} at http`))
})

test('a push takes effect on a running server with the next request, and one that would make records invalid never does', async (t) => {
  const { directory, store } = await pushed(t)
  const server = new ColophonProcess(t, ['serve', '--store', store, '--port', '0'])
  const url = `http://127.0.0.1:${await server.port()}`
  const contract = join(directory, 'contract.yaml')
  const fields = async (): Promise<unknown> =>
    Object.keys((await (await fetch(`${url}/api/records/a`)).json()) as object)
  await writeFile(contract, `${OFFERS.contract}      - {name: more, logicalType: string}\n`)
  await answer(run(store, 'push', directory, '--dry-run'))
  assert.deepEqual(await fields(), ['id', 'title', 'price', 'currency', 'owner_note', 'rate'])
  await answer(run(store, 'push', directory, '--note', 'more'))
  assert.deepEqual(await fields(), ['id', 'title', 'price', 'currency', 'owner_note', 'rate', 'more'])
  await writeFile(contract, OFFERS.contract)
  assert.match(
    await fault(run(store, 'push', directory)),
    /property "more" is gone .* would lose its value in 0 records/,
  )
  assert.deepEqual(await fields(), ['id', 'title', 'price', 'currency', 'owner_note', 'rate', 'more'])
})

test('errors of a store are reported for an operator, and never with its password', async (t) => {
  const directory = await writeSheet(t)
  const away = 'postgres://ann:hushed@127.0.0.1:1/sheets'
  for (const args of [
    ['list'],
    ['push', directory],
    ['serve', '--port', '0'],
    ['validate'],
    ['pull', join(directory, 'x')],
  ]) {
    const said = await fault(run(away, ...args))
    assert.match(said, /the database cannot be reached \(ECONNREFUSED\)/)
    assert.doesNotMatch(said, /hushed/)
  }
  assert.match(await fault(run(postgres.freshUrl(), 'list')), /no sheet in the schema .*: colophon push/)
  assert.match(await fault(run(postgres.url('a', { database: 'none' }), 'list')), /there is no such database/)
  assert.match(
    await fault(run(postgres.url('a', { user: 'none' }), 'list')),
    /denies access; check user and password/,
  )
  assert.match(await fault(run(`${away}?schema=1`, 'list')), /schema "1" is no name/)
})

test('a command line with both a store and a directory, or with an invalid store, is refused', async (t) => {
  const directory = await writeSheet(t)
  const store = postgres.freshUrl()
  for (const [url, args, expected] of [
    [store, ['delete', directory, 'a', '--yes'], /both a store and the directory/],
    [store, ['list', directory], /too many arguments/],
    ['mysql://ann:hushed@host/x', ['list'], /is not the URL of a store/],
    ['', ['push', directory], /no store is given/],
    ['', ['list'], /missing required argument 'sheet'/],
    [store, ['get'], /missing required argument 'id'/],
  ] as const) {
    const { code, stderr } = await run(url, ...args)
    assert.equal(code, 2)
    assert.match(stderr, expected)
    assert.doesNotMatch(stderr, /hushed/)
  }
  // An empty variable names nothing.
  assert.equal((await run('', 'get', directory, 'a')).code, 0)
})

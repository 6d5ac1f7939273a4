import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { ColophonProcess } from '../support/colophon-process.ts'
import { contractText } from '../support/contract-with.ts'
import { CSRF } from '../support/http-fixture.ts'
import { startLocalApi, type LocalApi } from '../support/local-api.ts'
import { answerLookups, lookup } from '../support/run-fixture.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

/** A sheet whose `b` and `c` are looked up at two servers, and `d` at a cloud's metadata service. */
interface Served {
  readonly sheet: string
  readonly one: LocalApi
  readonly other: LocalApi
}

async function writeNetSheet(t: TestContext): Promise<Served> {
  const [one, other] = [await startLocalApi(t), await startLocalApi(t)]
  answerLookups(one)
  answerLookups(other)
  const properties = ['a', 'b', 'c', 'd'].map((name) => `{name: ${name}, logicalType: string}`)
  const sheet = await writeSheet(t, {
    contract: contractText(properties),
    records: [{ id: '1', a: 'x' }],
    derivations: {
      'b.yaml': JSON.stringify(lookup(one.url, 'b', 'a')),
      'c.yaml': JSON.stringify(lookup(other.url, 'c', 'a')),
      'd.yaml': JSON.stringify(lookup('http://0xa9fea9fe', 'd', 'a')),
    },
  })
  return { sheet, one, other }
}

/** Serves the sheet, runs all of it, and stops. */
async function serveAndRun(
  t: TestContext,
  sheet: string,
  options: readonly string[],
): Promise<{ lines: readonly string[]; materialized: number; failures: ReadonlyMap<string, string> }> {
  const running = new ColophonProcess(t, ['serve', sheet, '--port', '0', '--actor', 'agent:test', ...options])
  const url = `http://127.0.0.1:${await running.port()}/api/materialize`
  const headers = { ...CSRF, 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: '{"force":true}' })
  const body = (await response.json()) as {
    materialized: number
    failures: { field: string; error: string }[]
  }
  running.kill('SIGTERM')
  const { stdout } = await running.end()
  const lines = stdout.split('\n')
  assert.equal(lines.pop(), '')
  const failures = new Map(body.failures.map(({ field, error }) => [field, error]))
  return { lines, materialized: body.materialized, failures }
}

const METADATA = '169.254.169.254 is a link-local or cloud metadata address, which is never called'

test('serve --allow-net: only the listed hosts are called, and the start message names the refused ones', async (t) => {
  const { sheet, one, other } = await writeNetSheet(t)
  const list = ['--allow-net', `A.example, ${one.host},169.254.169.254`, '--allow-net', '[::1]']
  const { lines, materialized, failures } = await serveAndRun(t, sheet, list)
  const unlisted = `--allow-net does not list ${other.host}`
  assert.equal(lines.length, 2)
  assert.match(
    lines[0] ?? '',
    new RegExp(`^Colophon serves ${basename(sheet)} at http://127\\.0\\.0\\.1:\\d+$`),
  )
  const [start, hosts = ''] = (lines[1] ?? '').split(/ call (.*)/)
  assert.equal(start, 'Its derivations')
  const shown = [
    one.host,
    `${other.host} (refused: ${unlisted})`,
    `169.254.169.254:80 (refused: ${METADATA})`,
  ]
  assert.deepEqual(hosts.split(/(?<=\)|:\d+), /).toSorted(), shown.toSorted())
  assert.equal(materialized, 1)
  assert.deepEqual(Object.fromEntries(failures), {
    c: `GET ${other.url}/c/x -> refused: ${unlisted}`,
    d: `GET http://0xa9fea9fe/d/x -> refused: ${METADATA}`,
  })
  assert.deepEqual([one.requests.length, other.requests.length], [1, 0])
})

test('serve --offline: no host is called', async (t) => {
  const { sheet, one, other } = await writeNetSheet(t)
  const { lines, materialized, failures } = await serveAndRun(t, sheet, ['--offline'])
  assert.equal(lines[1]?.match(/\(refused: --offline lets derivations call nobody\)/g)?.length, 2)
  assert.equal(materialized, 0)
  assert.equal(failures.get('b'), `GET ${one.url}/b/x -> refused: --offline lets derivations call nobody`)
  assert.equal(failures.get('d'), `GET http://0xa9fea9fe/d/x -> refused: ${METADATA}`)
  assert.deepEqual([one.requests.length, other.requests.length], [0, 0])
})

test('serve --stub: nothing is called or refused, and the start message says so', async (t) => {
  const { sheet, one } = await writeNetSheet(t)
  const stub = join(sheet, 'stub.json')
  await writeFile(stub, '{"fallback": {"value": "stubbed"}}')
  const { lines, materialized, failures } = await serveAndRun(t, sheet, ['--stub', stub, '--offline'])
  assert.match(
    lines[1] ?? '',
    /^Its derivations call .*; --stub answers in their place, and nothing is called$/,
  )
  assert.doesNotMatch(lines[1] ?? '', /refused/)
  assert.deepEqual([materialized, failures.size, one.requests.length], [3, 0, 0])
})

for (const [what, derivations] of [
  ['without derivations', {}],
  ['with a broken derivation', { 'b.yaml': 'targets: [b]\n' }],
] as const) {
  test(`serve prints nothing about hosts ${what}`, async (t) => {
    const running = new ColophonProcess(t, ['serve', await writeSheet(t, { derivations }), '--port', '0'])
    await running.port()
    running.kill('SIGTERM')
    assert.match((await running.end()).stdout, /^Colophon serves [^\n]*\n$/)
  })
}

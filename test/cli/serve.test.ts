import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, delimiter, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { getRecord } from '../../src/sheet/queries/get-record.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { ColophonProcess } from '../support/colophon-process.ts'
import { CSRF } from '../support/http-fixture.ts'
import { onEnd } from '../support/on-end.ts'
import { exchange, RawClient } from '../support/raw-client.ts'
import { OFFERS, RATES, writeSheet } from '../support/sheet-fixture.ts'

const json = { ...CSRF, 'content-type': 'application/json' }

function serve(t: TestContext, sheet: string, ...options: string[]): ColophonProcess {
  return new ColophonProcess(t, ['serve', sheet, '--port', '0', ...options])
}

test('serve prints its address and the hosts of its derivations, serves requests, and exits with 0 on SIGTERM and on SIGINT', async (t) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const sheet = await writeSheet(t)
    const running = serve(t, sheet)
    const url = `http://127.0.0.1:${await running.port()}`
    const { records } = (await (await fetch(`${url}/api/records?fields=id`)).json()) as { records: unknown[] }
    assert.equal(records.length, 3)
    running.kill(signal)
    const ended = await running.end()
    assert.equal(ended.code, 0, ended.stderr)
    const lines = `Colophon serves ${basename(sheet)} at ${url}\nIts derivations call rates.example:443\n`
    assert.equal(ended.stdout, lines)
  }
})

test('a signal ends event streams and the run under way; stored results are kept', async (t) => {
  const rates = createServer()
  const called = Promise.withResolvers<void>()
  rates.on('request', (request, response) => {
    if (request.url === '/EUR') response.end('{"rate":1}')
    else called.resolve()
  })
  await new Promise<void>((resolve) => rates.listen(0, '127.0.0.1', resolve))
  onEnd(t, () => rates.close().closeAllConnections())
  const { port: far } = rates.address() as AddressInfo
  const derivation = OFFERS.derivations['rate.yaml']!.replace(
    'https://rates.example',
    `http://127.0.0.1:${far}`,
  )
  const sheet = await writeSheet(t, { derivations: { 'rate.yaml': derivation } })
  const running = serve(t, sheet, '--actor', 'agent:test')
  const port = await running.port()
  const stream = await RawClient.open(t, port)
  stream.send('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await stream.waitFor((text) => text.includes(': connected'))
  const url = `http://127.0.0.1:${port}/api/materialize`
  const answer = fetch(url, { method: 'POST', headers: json, body: '{}' }).then(
    (response) => response.status,
    () => 'cut off',
  )
  await called.promise
  running.kill('SIGTERM')
  assert.equal((await running.end()).code, 0)
  assert.match(
    await stream.end(),
    /event: materialize\.start\n[^]*event: materialize\.error\n.*the service is stopping/,
  )
  assert.notEqual(await answer, 200)
  const reopened = await openSheet(sheet)
  onEnd(t, () => reopened.close())
  assert.deepEqual(JSON.parse(String((await getRecord(reopened, 'a', ['rate'])).json)), { rate: 1 })
})

test('D3: a path that is not a sheet is one line on standard error and exit code 1', async (t) => {
  const sheet = await writeSheet(t)
  for (const [path, words] of [
    [join(sheet, 'nowhere'), /not a directory/],
    [join(sheet, 'derivations'), /contract\.yaml/],
  ] as const) {
    const { code, stdout, stderr } = await serve(t, path).end()
    assert.equal(code, 1)
    assert.equal(stdout, '')
    assert.match(stderr, words)
    assert.match(stderr, /^colophon: [^\n]+\n$/)
  }
})

test('D3: an invalid contract does not stop the server', async (t) => {
  const running = serve(t, await writeSheet(t, { contract: 'kind: Nonsense\n' }))
  const response = await fetch(`http://127.0.0.1:${await running.port()}/api/records`)
  assert.equal(response.status, 500)
  assert.equal(((await response.json()) as { error: { type: string } }).error.type, 'ContractError')
})

test('a port in use is one line on standard error and exit code 1', async (t) => {
  const sheet = await writeSheet(t)
  const port = String(await serve(t, sheet).port())
  const { code, stderr } = await new ColophonProcess(t, ['serve', sheet, '--port', port]).end()
  assert.equal(code, 1)
  assert.match(stderr, new RegExp(`^colophon: port ${port} of 127\\.0\\.0\\.1 is in use[^\\n]*\\n$`))
})

test('wrong usage is reported with the value seen and exit code 2', async (t) => {
  const ofServe: readonly (readonly string[])[] = [
    ['another'],
    ['--colour'],
    ['--host', ''],
    ['--port', 'http'],
    ['--port', '70000'],
    ['--lock-timeout', '-1'],
    ['--query-timeout', '0'],
    ['--query-rows', '1.5'],
    ['--body-limit', '32MiB'],
    ['--log-level', 'loud'],
    ['--allow-host', 'http://a.example'],
    ['--actor', 'x'.repeat(201)],
    ['--allow-images', '*'],
    ['--allow-images', '*.example'],
    ['--allow-images', 'a.*.example'],
    ['--allow-images', 'https://a.example'],
    ['--allow-images', '[::1]'],
    ['--allow-images', '*.0.0.1'],
    ['--allow-net'],
    ['--allow-net', ''],
    ['--allow-net', '*'],
    ['--allow-net', '*.example'],
    ['--allow-net', 'https://a.example'],
    ['--allow-net', 'a.example,::1'],
    ['--allow-net', 'a.example,'],
    ['--allow-net', 'a.example:0'],
    ['--allow-net', 'a.example', '--offline'],
    ['--trust-actor-header', 'X Forwarded-User'],
    ['--trust-actor-header', ''],
    ['--trust-actor-header', 'Cookie'],
    ['--trust-actor-header', 'X-Svc-Actor'],
  ]
  const cases = [[], ['frobnicate'], ['serve'], ...ofServe.map((args) => ['serve', 'sheet', ...args])]
  const ended = await Promise.all(cases.map((args) => new ColophonProcess(t, args).end()))
  for (const [index, args] of cases.entries()) {
    const { code, stdout, stderr } = ended[index]!
    assert.equal(code, 2, args.join(' '))
    assert.equal(stdout, '')
    assert.match(stderr, /--help/)
    const seen = args.at(-1)
    if (args.length > 3 && seen !== undefined && seen.length < 100) assert.ok(stderr.includes(seen), stderr)
  }
})

test('--version and --help print to standard output and exit with 0', async (t) => {
  const version = await new ColophonProcess(t, ['--version']).end()
  assert.equal(version.code, 0)
  assert.match(version.stdout, /^\d+\.\d+\.\d+\S*\n$/)
  const help = await new ColophonProcess(t, ['serve', '--help']).end()
  assert.equal(help.code, 0)
  assert.match(help.stdout, /--stub <file>/)
})

test('D19, D36, D38, D41: the options of serve take effect', async (t) => {
  const sheet = await writeSheet(t)
  const stub = join(sheet, 'stub.json')
  await writeFile(stub, RATES)
  const options = ['--stub', stub, '--actor', 'agent:night', '--allow-host', 'a.example']
  const limits = ['--query-rows', '2', '--body-limit', '1', '--log-level', 'silent']
  // Before the sheet too: an option with several values would take it for one.
  const args = ['serve', '--port', '0', '--allow-host', 'b.example', sheet, ...options, ...limits]
  const running = new ColophonProcess(t, args)
  const port = await running.port()
  const post = (path: string, body: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers: json, body })
  const run = await post('/api/materialize', '{}')
  assert.equal(((await run.json()) as { materialized: number }).materialized, 2)
  const query = await post('/api/query', '{"sql":"SELECT id FROM records"}')
  assert.deepEqual(await query.json(), { rows: [{ id: 'a' }, { id: 'b' }], count: 2, truncated: true })
  assert.equal((await post('/api/query', ' '.repeat(1024 * 1024 + 1))).status, 413)
  for (const [host, status] of [
    ['a.example', 200],
    ['b.example:1', 200],
    ['c.example', 403],
  ] as const) {
    const message = `GET /api/csrf HTTP/1.1\r\nHost: ${host}\r\n\r\n`
    assert.equal((await exchange(t, port, message)).status, status)
  }
  const provenance = await fetch(`http://127.0.0.1:${port}/api/provenance?record_id=a&field=rate`)
  assert.equal(((await provenance.json()) as { actor: string }).actor, 'agent:night')
  running.kill('SIGTERM')
  assert.equal((await running.end()).stderr, '')
})

test('a stub file that cannot be read is one line on standard error and exit code 1', async (t) => {
  const sheet = await writeSheet(t)
  const { code, stderr } = await serve(t, sheet, '--stub', join(sheet, 'none.json')).end()
  assert.equal(code, 1)
  assert.match(stderr, /^colophon: [^\n]*none\.json[^\n]*\n$/)
})

test('a server whose output is closed ends quietly with 0', async (t) => {
  const running = new ColophonProcess(t, ['serve', await writeSheet(t), '--port', '0', '--log-level', 'warn'])
  running.closeOutput()
  const { code, signal, stderr } = await running.end()
  assert.deepEqual([code, signal, stderr], [0, null, ''])
})

const old = olderNode()

test(
  'an older Node starts the one installed beside it, and forwards signals and exit codes',
  { skip: old === undefined ? 'no older Node on the path' : false },
  async (t) => {
    const sheet = await writeSheet(t)
    const running = new ColophonProcess(t, ['serve', sheet, '--port', '0'], { node: old })
    const response = await fetch(`http://127.0.0.1:${await running.port()}/api/csrf`)
    assert.equal(response.status, 200)
    running.kill('SIGTERM')
    assert.equal((await running.end()).code, 0)
    assert.equal((await new ColophonProcess(t, ['serve'], { node: old }).end()).code, 2)
  },
)

/** A Node on the path that is too old to run the program itself. */
function olderNode(): string | undefined {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const node = join(folder, process.platform === 'win32' ? 'node.exe' : 'node')
    if (!existsSync(node)) continue
    const [major = 0, minor = 0] = execFileSync(node, ['--version'], { encoding: 'utf8' })
      .slice(1)
      .split('.')
      .map(Number)
    if (major < 24 || (major === 24 && minor < 20)) return node
  }
  return undefined
}

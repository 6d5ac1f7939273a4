import assert from 'node:assert/strict'
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { startApi } from '../examples/countries/api/server.mjs'

const ROOT = join(import.meta.dirname, '..')

let project: string
const started: ChildProcess[] = []

before(async () => {
  project = await mkdtemp(join(tmpdir(), 'colophon-start-'))
  const isSource = (path: string): boolean => !/sheet\.db|provenance\.jsonl/.test(path)
  for (const name of ['scripts', 'examples']) {
    await cp(join(ROOT, name), join(project, name), { recursive: true, filter: isSource })
  }
  await mkdir(join(project, 'other'))
  await cp(join(ROOT, 'examples', 'countries', 'contract.yaml'), join(project, 'other', 'contract.yaml'))
  for (const name of ['bin', 'src', 'node_modules']) await symlink(join(ROOT, name), join(project, name))
})

afterEach(async () => {
  const running = started
    .splice(0)
    .filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
  await Promise.all(running.map((child) => (child.kill('SIGKILL'), once(child, 'close'))))
})

after(() => rm(project, { recursive: true }))

test('without arguments, the example and its API are served, and both end with SIGTERM', async () => {
  const apiPort = await freePort()
  const { child, text } = start(['--port', '0'], apiPort)
  const address = await servedAt(text)
  const page = (await (await fetch(`${address}/api/records?limit=1`)).json()) as { records: { id: string }[] }
  assert.equal(page.records[0]?.id, 'AD')
  assert.equal((await fetch(`http://127.0.0.1:${apiPort}/currencies/CHF`)).status, 200)
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'close'), [0, null])
  await assert.rejects(fetch(`http://127.0.0.1:${apiPort}/`))
  await assert.rejects(fetch(`${address}/api/records`))
})

test('a signal to the process group is one clean stop, and a kill of it leaves no service behind', async () => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const) {
    const { child, text } = start(['--port', '0'], await freePort(), { detached: true })
    await servedAt(text)
    const pid = child.pid ?? 0
    process.kill(signal === 'SIGKILL' ? pid : -pid, signal)
    // Once the service is gone as well, which has its standard error.
    const how = await once(child, 'close')
    assert.deepEqual(how, signal === 'SIGKILL' ? [null, signal] : [0, null], text())
    assert.equal(text().match(/"stopping"/g)?.length, 1)
  }
})

test('an API that is running already is used', async (t) => {
  const api = await startApi({ port: 0 })
  t.after(() => api.close())
  const { child, text } = start(['--port', '0'], api.port)
  await servedAt(text)
  child.kill('SIGINT')
  assert.deepEqual(await once(child, 'close'), [0, null])
  assert.equal((await fetch(`http://127.0.0.1:${api.port}/`)).status, 200)
})

test("another program on the API's port is reported in one line, with exit code 1", async (t) => {
  const server = createServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const { child, text } = start([], port)
  assert.deepEqual(await once(child, 'close'), [1, null])
  assert.match(text(), new RegExp(`^colophon: port ${port}, .* is taken by another program.*\n$`))
})

test('if npm is killed, whose shell forwards no signal, the service and its API end too', async () => {
  const apiPort = await freePort()
  const command = `"${process.execPath}" scripts/start.mjs --port 0; exit`
  const env = { ...process.env, COUNTRIES_API_PORT: String(apiPort), npm_lifecycle_event: 'start' }
  const { child: shell, text } = collect(spawn('sh', ['-c', command], { cwd: project, env }))
  await servedAt(text)
  shell.kill('SIGTERM')
  await once(shell, 'close') // all that had its output, the service included
  await assert.rejects(fetch(`http://127.0.0.1:${apiPort}/`))
})

test('a named sheet is served without the API', async () => {
  const apiPort = await freePort()
  const { child, text } = start([join(project, 'other'), '--port', '0'], apiPort)
  const address = await servedAt(text)
  assert.equal((await fetch(`${address}/api/records`)).status, 200)
  await assert.rejects(fetch(`http://127.0.0.1:${apiPort}/`))
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'close'), [0, null])
})

test('the exit code of a service that cannot start is returned, and the API ends', async () => {
  const apiPort = await freePort()
  const { child } = start(['--no-such-option'], apiPort)
  const [code] = (await once(child, 'close')) as [number]
  assert.notEqual(code, 0)
  await assert.rejects(fetch(`http://127.0.0.1:${apiPort}/`))
})

interface Started {
  readonly child: ChildProcess
  /** Returns its output so far. */
  readonly text: () => string
}

function start(args: readonly string[], apiPort: number, { detached = false } = {}): Started {
  const env = { ...process.env, COUNTRIES_API_PORT: String(apiPort) }
  return collect(spawn(process.execPath, [join(project, 'scripts', 'start.mjs'), ...args], { env, detached }))
}

function collect(child: ChildProcessWithoutNullStreams): Started {
  started.push(child)
  let text = ''
  child.stdout.on('data', (chunk) => (text += chunk))
  child.stderr.on('data', (chunk) => (text += chunk))
  return { child, text: () => text }
}

/** The address that the service tells; rejects when the process ends before it does. */
async function servedAt(text: () => string): Promise<string> {
  const child = started.at(-1)
  assert.ok(child?.stdout)
  const ended = once(child, 'close').then(() => assert.fail(`ended without serving:\n${text()}`))
  for (;;) {
    const address = /http:\/\/[^\s"/]+(?=[\s"/])/.exec(text())?.[0]
    if (address !== undefined) return address
    await Promise.race([once(child.stdout, 'data'), ended])
  }
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const api = await startApi({ port: 0 })
  await api.close()
  return api.port
}

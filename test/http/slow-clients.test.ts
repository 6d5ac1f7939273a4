import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, writeFile } from 'node:fs/promises'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { CONNECTION_LIMIT, HTTP_TIMES, type HttpTimes } from '../../src/http/http-server.ts'
import { ColophonProcess } from '../support/colophon-process.ts'
import { get, head, ONE, post } from '../support/hostile-requests.ts'
import { listen, startApp } from '../support/http-fixture.ts'
import { onEnd } from '../support/on-end.ts'
import { exchange, RawClient } from '../support/raw-client.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

/** The product's times, about a hundred times shorter. */
const SHORT: HttpTimes = {
  headersMs: 300,
  requestMs: 20_000,
  idleMs: 650,
  bodyPace: { bytes: 1000, windowMs: 150 },
  answerMs: 10_000,
  checkMs: 20,
}

/** The bytes that half-open clients send before they stop. */
const HALVES: readonly (string | Buffer)[] = [
  '',
  '\r\n',
  'GET /api/rec',
  'GET /api/csrf HTTP/1.1\r\nHost: loc',
  'GET /api/csrf HTTP/1.1\r\nHost: localhost\r\n',
  post('/api/query', ONE).subarray(0, -1),
  post('/api/records', `{"records":[${' '.repeat(5000)}]}`).subarray(0, -3000),
  `${head('POST /api/query', 'Content-Type: application/json', 'Transfer-Encoding: chunked')}5\r\n{"s`,
]

interface HalfOpen {
  /** The server's end. */
  readonly accepted: Socket
  /** The bytes that the client has received. */
  received: string
  /** Whether the client has got all that will come. */
  ended: boolean
}

/** Connects, sends this and falls silent; the client keeps its side open whatever the server does. */
async function halfOpen(t: TestContext, app: FastifyInstance, bytes: string | Buffer): Promise<HalfOpen> {
  const { port } = app.server.address() as AddressInfo
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  onEnd(t, () => socket.destroy())
  const [accepted] = (await once(app.server, 'connection')) as [Socket]
  const client: HalfOpen = { accepted, received: '', ended: false }
  socket.on('data', (data) => (client.received += String(data)))
  socket.on('end', () => (client.ended = true))
  socket.on('error', () => undefined)
  if (bytes.length > 0) socket.write(bytes)
  return client
}

test('500 half-open connections do not affect other requests, and are closed with a 408 each', async (t) => {
  const { app, logged } = await startApp(t, { app: { times: { ...SHORT, idleMs: 60_000 } } })
  const client = await RawClient.open(t, await listen(app))
  const isServed = async (): Promise<void> => {
    client.send(get('/api/records/a'))
    assert.equal((await client.answer()).status, 200)
  }
  const silent: HalfOpen[] = []
  for (let index = 0; index < 500; index++) {
    silent.push(await halfOpen(t, app, HALVES[index % HALVES.length] ?? ''))
    if (index % 50 === 0) await isServed()
  }
  while (silent.some(({ accepted, ended }) => !accepted.closed || !ended)) await isServed()
  for (const { received } of silent) {
    assert.match(received, /^HTTP\/1\.1 408 Request Timeout\r\n/)
    assert.match(received, /"type":"ValidationError","message":"the request took too long to arrive"/)
  }
  assert.deepEqual(logged, [])
})

test('a body that trickles in is cut off, though it never stalls completely', async (t) => {
  const { app } = await startApp(t, { app: { times: SHORT } })
  const client = await RawClient.open(t, await listen(app))
  client.send(head('POST /api/query', 'Content-Type: application/json', 'Content-Length: 1000000'))
  const trickle = setInterval(() => client.send(' '), 10)
  onEnd(t, () => clearInterval(trickle))
  assert.equal((await client.answer()).status, 408)
  await client.end()
})

test('the default time limits disconnect stalled clients within 30 seconds', () => {
  const { headersMs, bodyPace, checkMs, requestMs, idleMs } = HTTP_TIMES
  const lastWordsMs = 1000
  assert.ok(headersMs + checkMs + lastWordsMs <= 30_000)
  assert.ok(2 * bodyPace.windowMs + 2 * checkMs + lastWordsMs <= 30_000)
  // The largest body may come over a slow link: 5 minutes for 32 MiB are 110 KiB a second.
  assert.deepEqual([requestMs, idleMs], [300_000, 65_000])
})

test('a client that does not read its response is disconnected; one that waits for its response is not', async (t) => {
  const records = Array.from({ length: 40 }, (_, index) => ({
    id: String(index),
    title: 'x'.repeat(500_000),
  }))
  const { app } = await startApp(t, { files: { records }, app: { times: { ...SHORT, answerMs: 300 } } })
  const port = await listen(app)
  const connection = await connectionOf(app, () => {
    const socket = connect(port, '127.0.0.1')
    onEnd(t, () => socket.destroy())
    // Nobody reads.
    socket.pause()
    socket.write(get('/api/records'))
  })
  await once(connection, 'close')

  const endless =
    'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) AS n FROM c'
  const patient = await startApp(t, {
    sheet: { queryLimits: { timeoutMs: 1500, maxRows: 10, maxMemoryBytes: 256 * 1024 * 1024 } },
    app: { times: { ...SHORT, answerMs: 50 } },
  })
  const { status } = await exchange(
    t,
    await listen(patient.app),
    post('/api/query', JSON.stringify({ sql: endless })),
  )
  assert.equal(status, 400)
})

async function connectionOf(app: FastifyInstance, open: () => void): Promise<Socket> {
  const connection = once(app.server, 'connection') as Promise<[Socket]>
  open()
  return (await connection)[0]
}

test('beyond the limit of connections new ones are closed, and open ones continue to work', async (t) => {
  const { app } = await startApp(t)
  const port = await listen(app)
  assert.equal(app.server.maxConnections, CONNECTION_LIMIT)
  app.server.maxConnections = 10
  const clients: RawClient[] = []
  for (let index = 0; index < 10; index++) {
    const client = await RawClient.open(t, port)
    client.send(get('/api/csrf'))
    assert.equal((await client.answer()).status, 200)
    clients.push(client)
  }
  assert.equal(await (await RawClient.open(t, port)).end(), '')
  for (const client of clients) {
    client.send(get('/api/csrf'))
    assert.equal((await client.answer()).status, 200)
  }
})

test(
  'without file descriptors the server continues for connected clients, and for all once there are some again',
  { skip: process.platform === 'win32' && 'there are no file descriptors to limit' },
  async (t) => {
    const sheet = await writeSheet(t)
    const node = join(sheet, 'limited-node')
    await writeFile(node, `#!/bin/sh\nulimit -n 128\nexec '${process.execPath}' "$@"\n`)
    await chmod(node, 0o700)
    const server = new ColophonProcess(t, ['serve', sheet, '--port', '0'], { node })
    const port = await server.port()
    const early = await RawClient.open(t, port)
    early.send(get('/api/csrf'))
    assert.equal((await early.answer()).status, 200)

    const crowd = Array.from({ length: 300 }, () => connect(port, '127.0.0.1'))
    for (const socket of crowd) socket.on('error', () => undefined)
    // Those that the server has no descriptor for are closed by it.
    await Promise.race(crowd.map((socket) => once(socket, 'close')))
    for (const path of ['/api/csrf', '/api/records']) {
      early.send(get(path))
      assert.equal((await early.answer()).status, 200, path)
    }
    // A query needs a process, and there are no pipes to it.
    early.send(post('/api/query', ONE))
    assert.match((await early.answer()).body, /"QueryError","message":"no process could be started/)

    for (const socket of crowd) {
      socket.destroy()
      if (!socket.closed) await once(socket, 'close')
    }
    // It has them back once it has seen that the others are gone.
    for (let status = 0; status !== 200; { status } = await early.answer())
      early.send(post('/api/query', ONE))
    assert.equal((await exchange(t, port, get('/api/records'))).status, 200)
    server.kill('SIGTERM')
    const { code, stderr } = await server.end()
    assert.equal(code, 0, stderr)
    assert.doesNotMatch(stderr, /internal error/)
  },
)

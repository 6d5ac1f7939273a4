import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { deflateSync, gzipSync } from 'node:zlib'
import { Agent } from 'undici'
import { DEFAULT_HOST_POLICY } from '../../definition/host-policies.ts'
import type { HostPolicy } from '../../definition/host-policies.ts'
import { BodyMemory, BodyReservation } from '../response/body-memory.ts'
import { CallGuard } from '../guard/call-guard.ts'
import { tryOnce } from './exchange.ts'
import { startHttp, startTcp } from '../testing/local-server.ts'
import type { SendFailure } from '../call/transport.ts'
import { UndiciTransport } from './undici-transport.ts'

const MIB = 1024 * 1024

function call(policy: Partial<HostPolicy>): { signal: AbortSignal; policy: HostPolicy } {
  return { signal: new AbortController().signal, policy: { ...DEFAULT_HOST_POLICY, ...policy } }
}

/** Calls the URL and returns the failure, without its label. */
async function failureOf(t: TestContext, url: string, policy: Partial<HostPolicy> = {}): Promise<unknown> {
  const transport = new UndiciTransport()
  t.after(() => transport.close())
  const asked = { method: 'GET', url, headers: {}, body: null, secretHeaders: new Set<string>() } as const
  const answer = await transport.send(asked, call({ timeoutMs: 10_000, ...policy }))
  assert.ok(!answer.ok, JSON.stringify(answer).slice(0, 200))
  const { request, received: _received, ...rest } = answer.error as SendFailure & { request: string }
  assert.equal(request, `GET ${url}`)
  return rest
}

async function httpUrl(t: TestContext, listener: RequestListener): Promise<string> {
  const server = await startHttp(listener)
  t.after(() => server.close())
  return `${server.origin}/`
}

/** Starts a server that sends these bytes as soon as a request arrives. */
async function rawUrl(
  t: TestContext,
  answer: string,
  then: (socket: Socket) => void = () => {},
): Promise<string> {
  const server = await startTcp((socket) => {
    socket.once('data', () => socket.write(answer, 'latin1', () => then(socket)))
  })
  t.after(() => server.close())
  return `${server.origin}/`
}

/** Writes the chunk again and again until the client disconnects; resolves with the bytes written. */
async function pour(response: ServerResponse, chunk: Buffer): Promise<number> {
  const closed = once(response, 'close')
  let bytes = 0
  while (!response.destroyed) {
    bytes += chunk.length
    if (!response.write(chunk)) await Promise.race([once(response, 'drain'), closed])
  }
  return bytes
}

test('H7: an endless body is cut off beyond 10 MiB', async (t) => {
  const poured = Promise.withResolvers<number>()
  const url = await httpUrl(t, (_incoming, response) =>
    poured.resolve(pour(response, Buffer.alloc(MIB, ' '))),
  )
  assert.deepEqual(await failureOf(t, url), { reason: 'network', detail: 'body larger than 10 MiB' })
  assert.ok((await poured.promise) < 64 * MIB)
})

test('H7: a content length beyond 10 MiB fails the call before the body is read', async (t) => {
  const url = await rawUrl(t, 'HTTP/1.1 200 OK\r\ncontent-length: 10485761\r\n\r\n{}')
  assert.deepEqual(await failureOf(t, url), { reason: 'network', detail: 'body larger than 10 MiB' })
})

for (const [name, count, works] of [
  ['20,000', 20_000, true],
  ['30,000', 30_000, false],
] as const) {
  test(`H7: a body in ${name} chunks of one byte ${works ? 'is read' : 'is too much work'}`, async (t) => {
    const body = `"${'x'.repeat(count - 2)}"`
    const chunks = body.replace(/./g, '1\r\n$&\r\n')
    const url = await rawUrl(t, `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`)
    const transport = new UndiciTransport()
    t.after(() => transport.close())
    const asked = { method: 'GET', url, headers: {}, body: null, secretHeaders: new Set<string>() } as const
    const answer = await transport.send(asked, call({}))
    if (works) assert.ok(answer.ok)
    else
      assert.equal(!answer.ok && 'detail' in answer.error && answer.error.detail, 'body in too many pieces')
  })
}

test('H7: large bodies that arrive together wait for each other, and all are read', async (t) => {
  const url = await httpUrl(t, (_incoming, response) => response.end(`"${'x'.repeat(9 * MIB)}"`))
  const transport = new UndiciTransport()
  t.after(() => transport.close())
  const asked = { method: 'GET', url, headers: {}, body: null, secretHeaders: new Set<string>() } as const
  const answers = await Promise.all(Array.from({ length: 6 }, () => transport.send(asked, call({}))))
  assert.deepEqual(
    answers.map((answer) => answer.ok && String(answer.value.json).length),
    Array(6).fill(9 * MIB),
  )
})

test('H6: the wait for memory does not count towards the deadline', async (t) => {
  const url = await httpUrl(t, (_incoming, response) => response.end(`"${'x'.repeat(9 * MIB)}"`))
  const agent = new Agent()
  t.after(() => agent.destroy())
  const memory = new BodyMemory(MIB)
  const oldest = memory.reserve()
  await oldest.wait(MIB, new AbortController().signal)
  const reservation = memory.reserve()
  const waits = Promise.withResolvers<void>()
  t.mock.method(reservation, 'has', (bytes: number, onFree: () => void): boolean => {
    const has = BodyReservation.prototype.has.call(reservation, bytes, onFree)
    if (!has) waits.resolve()
    return has
  })
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const asked = { method: 'GET', url, headers: {}, body: null, secretHeaders: new Set<string>() } as const
  const tried = tryOnce(agent, asked, {
    signal: new AbortController().signal,
    permit: { sent: () => true, succeeded: () => undefined, another: () => Promise.resolve() },
    guard: new CallGuard(null),
    reservation,
    timeoutMs: 1000,
    whenOver: () => undefined,
  })
  await waits.promise
  t.mock.timers.tick(100_000)
  oldest.release()
  assert.ok((await tried).result.ok)
})

test('a call that waits for memory to decode its body ends with its signal', async (t) => {
  const url = await httpUrl(t, (_incoming, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(`"${'x'.repeat(MIB)}"`))
  })
  const agent = new Agent()
  t.after(() => agent.destroy())
  const memory = new BodyMemory(MIB)
  assert.ok(memory.reserve().has(MIB, () => undefined))
  const reservation = memory.reserve()
  const controller = new AbortController()
  t.mock.method(reservation, 'wait', (bytes: number, signal: AbortSignal): Promise<void> => {
    setImmediate(() => controller.abort(new Error('stopping')))
    return BodyReservation.prototype.wait.call(reservation, bytes, signal)
  })
  const asked = { method: 'GET', url, headers: {}, body: null, secretHeaders: new Set<string>() } as const
  const tried = tryOnce(agent, asked, {
    signal: controller.signal,
    permit: { sent: () => true, succeeded: () => undefined, another: () => Promise.resolve() },
    guard: new CallGuard(null),
    reservation,
    timeoutMs: 10_000,
    whenOver: () => undefined,
  })
  await assert.rejects(tried, /stopping/)
})

test('compressed bodies reserve their decoded size, so that several are decoded before any is stored', async (t) => {
  const body = `"${'x'.repeat(MIB)}"`
  const url = await httpUrl(t, (_incoming, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(body))
  })
  const transport = new UndiciTransport()
  t.after(() => transport.close())
  const asked = { method: 'GET', url, headers: {}, body: null, secretHeaders: new Set<string>() } as const
  const stored = new Promise<void>(() => undefined)
  const sent = Array.from({ length: 4 }, () => transport.send(asked, { ...call({}), stored }))
  for (const answer of await Promise.all(sent)) {
    assert.equal(answer.ok && String(answer.value.json).length, MIB)
  }
})

test('a body whose values cannot be stored releases its memory and its permit', async (t) => {
  const url = await httpUrl(t, (_incoming, response) => response.end(`"${'x'.repeat(9 * MIB)}"`))
  const transport = new UndiciTransport()
  t.after(() => transport.close())
  const asked = { method: 'GET', url, headers: {}, body: null, secretHeaders: new Set<string>() } as const
  for (let count = 0; count < 3; count++) {
    const stored = Promise.reject(new Error('disk full'))
    stored.catch(() => undefined)
    const answer = await transport.send(asked, { ...call({ concurrency: 1 }), stored })
    assert.ok(answer.ok)
  }
})

test('a body of just under 10 MiB is read', async (t) => {
  const url = await httpUrl(t, (_incoming, response) => response.end(`"${'x'.repeat(10 * MIB - 2)}"`))
  const transport = new UndiciTransport()
  t.after(() => transport.close())
  const asked = { method: 'GET', url, headers: {}, body: null, secretHeaders: new Set<string>() } as const
  const answer = await transport.send(asked, call({}))
  assert.equal(answer.ok && typeof answer.value.json === 'string' && answer.value.json.length, 10 * MIB - 2)
})

for (const [encoding, bomb] of [
  ['gzip', gzipSync(Buffer.alloc(30 * MIB, ' '))],
  ['deflate', deflateSync(Buffer.alloc(30 * MIB, ' '))],
  ['gzip, gzip', gzipSync(gzipSync(Buffer.alloc(30 * MIB, ' ')))],
] as const) {
  test(`H7: a small body that ${encoding} makes large is cut off past 10 MiB`, async (t) => {
    assert.ok(bomb.length < MIB)
    const url = await httpUrl(t, (_incoming, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(bomb)
    })
    assert.deepEqual(await failureOf(t, url), { reason: 'network', detail: 'body larger than 10 MiB' })
  })
}

for (const [name, encoding, body, detail] of [
  ['no gzip', 'gzip', Buffer.from('{"v":1}'), 'the body cannot be decompressed'],
  ['cut gzip', 'gzip', gzipSync('{"v":1}').subarray(0, 15), 'the body cannot be decompressed'],
  ['an unknown encoding', 'rot13', Buffer.from('{}'), 'unknown content encoding'],
  ['an inherited name as its encoding', 'constructor', Buffer.from('{}'), 'unknown content encoding'],
  ['ten encodings', Array(10).fill('gzip').join(','), Buffer.from('{}'), 'too many content encodings'],
] as const) {
  test(`H7: a body with ${name} is a network failure`, async (t) => {
    const url = await httpUrl(t, (_incoming, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(body)
    })
    assert.deepEqual(await failureOf(t, url), { reason: 'network', detail })
  })
}

test('H7: JSON nested 100,000 levels deep is malformed JSON', async (t) => {
  const url = await httpUrl(t, (_incoming, response) =>
    response.end('['.repeat(100_000) + ']'.repeat(100_000)),
  )
  assert.deepEqual(await failureOf(t, url), { reason: 'malformed_json' })
})

test('H6: a slow drip exceeds the deadline, which covers the whole exchange', async (t) => {
  const url = await httpUrl(t, (_incoming, response) => {
    const drip = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(drip))
  })
  assert.deepEqual(await failureOf(t, url, { timeoutMs: 200 }), { reason: 'timeout', seconds: 0.2 })
})

test('H6: a host that never responds, and one that drips its headers, exceed the deadline', async (t) => {
  const silent = await httpUrl(t, () => {})
  assert.deepEqual(await failureOf(t, silent, { timeoutMs: 100 }), { reason: 'timeout', seconds: 0.1 })
  const dripping = await rawUrl(t, 'HTTP/1.1 200 OK\r\n', (socket) => {
    const drip = setInterval(() => socket.write('x-drip: 1\r\n'), 20)
    socket.on('close', () => clearInterval(drip))
  })
  assert.deepEqual(await failureOf(t, dripping, { timeoutMs: 200 }), { reason: 'timeout', seconds: 0.2 })
})

test('H6: redirects do not restart the deadline', async (t) => {
  const url = await httpUrl(t, (_incoming, response) => {
    setTimeout(() => response.writeHead(302, { location: '/next' }).end(), 150)
  })
  assert.deepEqual(await failureOf(t, url, { timeoutMs: 400 }), { reason: 'timeout', seconds: 0.4 })
})

test('H7: a bad status counts even when its body never ends', async (t) => {
  const stalled = await httpUrl(t, (_incoming, response) => void response.writeHead(503).write('wait'))
  assert.deepEqual(await failureOf(t, stalled), { reason: 'status', status: 503 })
  const poured = Promise.withResolvers<number>()
  const endless = await httpUrl(t, (_incoming, response) => {
    response.writeHead(500)
    poured.resolve(pour(response, Buffer.alloc(MIB)))
  })
  assert.deepEqual(await failureOf(t, endless), { reason: 'status', status: 500 })
  // Little of it is read; the rest is in the buffers on the way.
  assert.ok((await poured.promise) < 32 * MIB)
})

test('H7: a connection reset in mid-body is a network failure', async (t) => {
  const url = await rawUrl(t, 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"a":', (socket) =>
    socket.resetAndDestroy(),
  )
  assert.deepEqual(await failureOf(t, url), { reason: 'network', detail: 'connection reset' })
})

for (const [name, answer, detail] of [
  ['cut short', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"a":1}', 'connection closed'],
  ['cut in a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\n{"a"', 'connection closed'],
  ['no HTTP', 'SSH-2.0-OpenSSH_9.6 secret\r\n', 'invalid HTTP response'],
  [
    'with two lengths',
    'HTTP/1.1 200 OK\r\ncontent-length: 7\r\ncontent-length: 8\r\n\r\n{"a":1}',
    'invalid HTTP response',
  ],
  [
    'with a length and chunks',
    'HTTP/1.1 200 OK\r\ncontent-length: 7\r\ntransfer-encoding: chunked\r\n\r\n7\r\n{"a":1}\r\n0\r\n\r\n',
    'invalid HTTP response',
  ],
  [
    'with a bad chunk',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
    'invalid HTTP response',
  ],
  ['with huge headers', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`, 'response headers too large'],
  [
    'with 501 headers',
    `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(500)}content-length: 2\r\n\r\n{}`,
    'response headers too large',
  ],
  ['of the status 000', 'HTTP/1.1 000 No\r\ncontent-length: 2\r\n\r\n{}', 'invalid HTTP response'],
  ['empty', '', 'connection closed'],
  [
    'a switch of protocols',
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    'connection closed',
  ],
] as const) {
  test(`H7: a response that is ${name} is a network failure without its text`, async (t) => {
    const url = await rawUrl(t, answer, (socket) => socket.end())
    assert.deepEqual(await failureOf(t, url), { reason: 'network', detail })
  })
}

test('H7: a hundred interim responses are skipped, more are a failure', async (t) => {
  const interim = 'HTTP/1.1 103 Early Hints\r\n\r\n'
  const last = 'HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n'
  assert.deepEqual(await failureOf(t, await rawUrl(t, interim.repeat(100) + last)), {
    reason: 'status',
    status: 404,
  })
  assert.deepEqual(await failureOf(t, await rawUrl(t, interim.repeat(101) + last)), {
    reason: 'network',
    detail: 'too many interim responses',
  })
})

test('interim responses are skipped', async (t) => {
  const interim = 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'
  const followed = await rawUrl(t, `${interim}HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n`)
  assert.deepEqual(await failureOf(t, followed), { reason: 'status', status: 404 })
  const alone = await rawUrl(t, interim, (socket) => socket.end())
  assert.deepEqual(await failureOf(t, alone), { reason: 'network', detail: 'connection closed' })
})

test('H7: a closed port is a network failure', async (t) => {
  const server = await startTcp(() => {})
  await server.close()
  assert.deepEqual(await failureOf(t, `${server.origin}/`), {
    reason: 'network',
    detail: 'connection refused',
  })
})

test('H7: a server without TLS is a network failure', async (t) => {
  const url = await httpUrl(t, (_incoming, response) => response.end('1'))
  const failure = (await failureOf(t, url.replace('http:', 'https:'))) as { reason: string; detail: string }
  assert.equal(failure.reason, 'network')
  assert.match(failure.detail, /^TLS failure \([A-Z_]+\)$/)
})

test('after failures of every sort the transport still works', async (t) => {
  const answers: Record<string, RequestListener> = {
    '/reset': (incoming) => incoming.socket.resetAndDestroy(),
    '/endless': (_incoming, response) => void pour(response, Buffer.alloc(MIB)),
    '/bad': (_incoming, response) => response.writeHead(500).end(),
    '/good': (_incoming, response) => response.end('1'),
  }
  const url = await httpUrl(t, (incoming, response) => answers[incoming.url ?? '']?.(incoming, response))
  const transport = new UndiciTransport()
  t.after(() => transport.close())
  const paths = Array.from({ length: 5 }, () => ['reset', 'good', 'endless', 'bad', 'good']).flat()
  const outcomes = await Promise.all(
    paths.map(async (path) => {
      const asked = {
        method: 'GET',
        url: url + path,
        headers: {},
        body: null,
        secretHeaders: new Set<string>(),
      } as const
      const answer = await transport.send(asked, call({ concurrency: 2, timeoutMs: 10_000 }))
      return answer.ok ? 'ok' : answer.error.reason
    }),
  )
  const expected: Record<string, string> = { reset: 'network', endless: 'network', bad: 'status', good: 'ok' }
  assert.deepEqual(
    outcomes,
    paths.map((path) => expected[path]),
  )
})

test('a call that failed leaves no timer running', async (t) => {
  const answers: Record<string, RequestListener> = {
    '/silent': () => undefined,
    '/reset': (incoming) => incoming.socket.resetAndDestroy(),
    '/stalled': (_incoming, response) => void response.writeHead(503).write('wait'),
    '/endless': (_incoming, response) => void pour(response, Buffer.alloc(MIB)),
    '/loop': (_incoming, response) => response.writeHead(302, { location: '/loop' }).end(),
  }
  const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  for (const [path, listener] of Object.entries(answers)) {
    const url = await httpUrl(t, listener)
    const before = timers()
    await failureOf(t, url.slice(0, -1) + path, { timeoutMs: path === '/silent' ? 100 : 30_000 })
    assert.ok(timers() <= before, path)
  }
})

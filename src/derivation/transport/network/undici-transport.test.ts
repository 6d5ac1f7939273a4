import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import type { IncomingMessage, RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { DEFAULT_HOST_POLICY } from '../../definition/host-policies.ts'
import type { HostPolicy } from '../../definition/host-policies.ts'
import { startHttp } from '../testing/local-server.ts'
import type { LocalServer } from '../testing/local-server.ts'
import type { TransportRequest } from '../call/transport.ts'
import { UndiciTransport } from './undici-transport.ts'

const { signal } = new AbortController()

function transportFor(t: TestContext): UndiciTransport {
  const transport = new UndiciTransport()
  t.after(() => transport.close())
  return transport
}

async function serverFor(t: TestContext, listener: RequestListener): Promise<LocalServer> {
  const server = await startHttp(listener)
  t.after(() => server.close())
  return server
}

function request(url: string, more: Partial<TransportRequest> = {}): TransportRequest {
  return { method: 'GET', url, headers: {}, body: null, secretHeaders: new Set(), ...more }
}

/** Returns the response without its duration, which differs each time. */
async function send(
  transport: UndiciTransport,
  asked: TransportRequest,
  policy: Partial<HostPolicy> = {},
): Promise<unknown> {
  const answer = await transport.send(asked, { signal, policy: { ...DEFAULT_HOST_POLICY, ...policy } })
  if (!answer.ok) {
    const { received: _received, ...failure } = answer.error
    return failure
  }
  const { durationMs, text: _text, ...rest } = answer.value
  assert.ok(Number.isInteger(durationMs) && durationMs >= 0)
  return rest
}

test('D26: success is a status 200–299 with a JSON body, whatever its content type', async (t) => {
  const server = await serverFor(t, (incoming, response) => {
    response.writeHead(Number(incoming.url?.slice(1)), { 'content-type': 'text/html' }).end('\uFEFF{"a":"ü"}')
  })
  const transport = transportFor(t)
  for (const status of [200, 201, 299]) {
    assert.deepEqual(await send(transport, request(`${server.origin}/${status}`)), {
      status,
      json: { a: 'ü' },
    })
  }
})

test('H7, D26: any other status is a failure with this status', async (t) => {
  const server = await serverFor(t, (incoming, response) => {
    response.writeHead(Number(incoming.url?.slice(1))).end('{"secret": "text"}')
  })
  const transport = transportFor(t)
  for (const status of [300, 304, 400, 404, 500, 503]) {
    const url = `${server.origin}/${status}`
    assert.deepEqual(await send(transport, request(url)), { reason: 'status', request: `GET ${url}`, status })
  }
})

test('a response with a bad status leaves its connection for the next call', async (t) => {
  const server = await serverFor(t, (_incoming, response) => response.writeHead(404).end('not here'))
  const transport = transportFor(t)
  for (let index = 0; index < 5; index++) {
    await send(transport, request(`${server.origin}/${index}`), { concurrency: 1 })
  }
  assert.equal(server.connections(), 1)
})

for (const body of ['', 'not JSON', '{"a":', '{"a":1e999}', Buffer.from([0x22, 0xff, 0x22])]) {
  test(`H7: a body of ${JSON.stringify(body)} is malformed JSON`, async (t) => {
    const server = await serverFor(t, (_incoming, response) => response.end(body))
    const label = `GET ${server.origin}/`
    assert.deepEqual(await send(transportFor(t), request(`${server.origin}/`)), {
      reason: 'malformed_json',
      request: label,
    })
  })
}

test('D21: the URL is sent unchanged, not normalised, without its fragment', async (t) => {
  const server = await serverFor(t, (incoming, response) => response.end(JSON.stringify(incoming.url)))
  const transport = transportFor(t)
  for (const [path, sent] of [
    ['', '/'],
    ['?q=1', '/?q=1'],
    ['/a/../b/./c', '/a/../b/./c'],
    ["/%7e/%2e%2e/a|b'c?x={y}&z=%zz", "/%7e/%2e%2e/a|b'c?x={y}&z=%zz"],
    ['//double//', '//double//'],
    ['/a#part?x', '/a'],
  ] as const) {
    assert.deepEqual(await send(transport, request(server.origin + path)), { status: 200, json: sent })
  }
})

async function echo(incoming: IncomingMessage): Promise<string> {
  const { method, url, headers } = incoming
  return JSON.stringify({ method, url, headers, body: await text(incoming) })
}

test('D21: a body is sent as application/json unless the headers override it', async (t) => {
  const server = await serverFor(t, (incoming, response) => {
    void echo(incoming).then((answer) => response.end(answer))
  })
  const transport = transportFor(t)
  const sent = async (more: Partial<TransportRequest>): Promise<Record<string, unknown>> => {
    const answer = (await send(transport, request(`${server.origin}/`, more))) as {
      json: Record<string, unknown>
    }
    return { ...answer.json, type: (answer.json['headers'] as Record<string, unknown>)['content-type'] }
  }
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    const { headers: _headers, ...rest } = await sent({ method, body: '{"ü":1}' })
    assert.deepEqual(rest, { method, url: '/', body: '{"ü":1}', type: 'application/json' })
  }
  const own = await sent({ method: 'POST', body: '1', headers: { 'Content-TYPE': 'application/vnd.x+json' } })
  assert.equal(own['type'], 'application/vnd.x+json')
  assert.equal((await sent({}))['type'], undefined)
})

test('header values are sent as the UTF-8 bytes of their text', async (t) => {
  const server = await serverFor(t, (incoming, response) => {
    response.end(JSON.stringify(Buffer.from(String(incoming.headers['x-name']), 'latin1').toString('utf8')))
  })
  const headers = { 'X-Name': 'Zoë 東京' }
  assert.deepEqual(await send(transportFor(t), request(server.origin, { headers })), {
    status: 200,
    json: 'Zoë 東京',
  })
})

const encoders = { gzip: gzipSync, 'x-gzip': gzipSync, deflate: deflateSync }

test('compressed bodies are decoded, also raw deflate data and nested encodings', async (t) => {
  const answers: Record<string, [string, Buffer]> = {
    bare: ['deflate', deflateRawSync('{"v":1}')],
    both: ['gzip, deflate', deflateSync(gzipSync('{"v":1}'))],
    identity: ['identity', Buffer.from('{"v":1}')],
    upper: ['GZIP', gzipSync('{"v":1}')],
    ...Object.fromEntries(
      Object.entries(encoders).map(([name, encode]) => [name, [name, encode('{"v":1}')]]),
    ),
  }
  const server = await serverFor(t, (incoming, response) => {
    const [encoding, body] = answers[incoming.url?.slice(1) ?? ''] ?? ['', Buffer.alloc(0)]
    response.writeHead(200, { 'content-encoding': encoding }).end(body)
  })
  const transport = transportFor(t)
  for (const name of Object.keys(answers)) {
    const answer = await send(transport, request(`${server.origin}/${name}`))
    assert.deepEqual(answer, { status: 200, json: { v: 1 } }, name)
  }
})

test('calls to one host are limited, without delaying those to another', async (t) => {
  const CALLS = 20
  let came = 0
  const held: (() => void)[] = []
  const full = Promise.withResolvers<void>()
  const busy = await serverFor(t, (_incoming, response) => {
    came += 1
    held.push(() => response.end('1'))
    if (held.length > 3) full.reject(new Error(`${held.length} calls at a time`))
    if (held.length === 3) full.resolve()
    // Once three calls wait, one gets its response for each new one, so that three always wait.
    if (came > 3) held.shift()?.()
    if (came === CALLS) for (const answer of held.splice(0)) answer()
  })
  const idle = await serverFor(t, (_incoming, response) => response.end('2'))
  const transport = transportFor(t)
  const calls = Array.from({ length: CALLS }, (_, index) =>
    send(transport, request(`${busy.origin}/${index}`), { concurrency: 3 }),
  )
  await full.promise
  assert.deepEqual(await send(transport, request(idle.origin)), { status: 200, json: 2 })
  assert.equal(came, 3)
  held.shift()?.()
  for (const answer of await Promise.all(calls)) assert.deepEqual(answer, { status: 200, json: 1 })
  assert.equal(came, CALLS)
  assert.equal(busy.connections(), 3)
})

test('H6: the wait for a permit does not count towards the deadline', async (t) => {
  const server = await serverFor(t, (_incoming, response) => {
    t.mock.timers.tick(400)
    response.end('1')
  })
  const transport = transportFor(t)
  const policy = { concurrency: 1, timeoutMs: 600 }
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const calls = Array.from({ length: 6 }, (_, index) =>
    send(transport, request(`${server.origin}/${index}`), policy),
  )
  for (const answer of await Promise.all(calls)) assert.deepEqual(answer, { status: 200, json: 1 })
})

test('when the signal aborts, calls under way and calls waiting reject with its reason', async (t) => {
  const arrived = Promise.withResolvers<void>()
  let requests = 0
  const server = await serverFor(t, () => {
    requests += 1
    if (requests === 2) arrived.resolve()
  })
  const transport = transportFor(t)
  const controller = new AbortController()
  const calls = Array.from({ length: 30 }, (_, index) =>
    transport.send(request(`${server.origin}/${index}`), {
      signal: controller.signal,
      policy: { ...DEFAULT_HOST_POLICY, concurrency: 2 },
    }),
  )
  await arrived.promise
  controller.abort(new Error('stopping'))
  for (const call of await Promise.allSettled(calls)) {
    assert.equal(call.status, 'rejected')
    assert.match(String(call.status === 'rejected' && call.reason), /stopping/)
  }
  assert.equal(requests, 2)
})

test('an abort in mid-body ends the call', async (t) => {
  const server = await serverFor(t, (_incoming, response) => {
    response.write('{"a":', () => controller.abort(new Error('stopping')))
  })
  const controller = new AbortController()
  await assert.rejects(
    transportFor(t).send(request(server.origin), {
      signal: controller.signal,
      policy: DEFAULT_HOST_POLICY,
    }),
    /stopping/,
  )
})

test('calls leave no listeners on the signal of their run', async (t) => {
  const server = await serverFor(t, (_incoming, response) => response.end('1'))
  const transport = transportFor(t)
  const controller = new AbortController()
  const options = { signal: controller.signal, policy: DEFAULT_HOST_POLICY }
  await transport.send(request(server.origin), options)
  await server.close()
  await transport.send(request(server.origin), options)
  assert.deepEqual(getEventListeners(controller.signal, 'abort'), [])
})

test('close closes idle connections and ends calls under way as failures', async (t) => {
  const arrived = Promise.withResolvers<IncomingMessage>()
  const server = await serverFor(t, (incoming, response) => {
    if (incoming.url === '/held') arrived.resolve(incoming)
    else response.end('1')
  })
  const transport = transportFor(t)
  await send(transport, request(`${server.origin}/`))
  const held = send(transport, request(`${server.origin}/held`))
  const { socket } = await arrived.promise
  const closed = once(socket, 'close')
  await transport.close()
  await closed
  assert.deepEqual(await held, {
    reason: 'network',
    request: `GET ${server.origin}/held`,
    detail: 'connection closed',
  })
})

test('a slow call keeps its permit until its result is stored, and says so', async (t) => {
  const server = await serverFor(t, (_incoming, response) => setTimeout(() => response.end('1'), 15))
  const transport = transportFor(t)
  const { promise: stored, resolve } = Promise.withResolvers<void>()
  let isKept = false
  const policy = { ...DEFAULT_HOST_POLICY, concurrency: 1 }
  const first = { signal, policy, stored, onKept: () => (isKept = true) }
  assert.ok((await transport.send(request(server.origin), first)).ok)
  assert.ok(isKept)
  let hasBegun = false
  const next = transport.send(request(server.origin), { signal, policy, onBegun: () => (hasBegun = true) })
  await nextTurn()
  assert.equal(hasBegun, false)
  resolve()
  assert.ok((await next).ok)
})

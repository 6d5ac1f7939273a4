import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Frame } from '../../src/events/frame.ts'
import { CSRF, listen, startApp } from '../support/http-fixture.ts'
import { RawClient } from '../support/raw-client.ts'

async function subscribe(t: TestContext, port: number): Promise<RawClient> {
  const client = await RawClient.open(t, port)
  client.send('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await client.waitFor((text) => text.includes(': connected\n\n'))
  return client
}

/** The stream's text so far, without the head of the answer and the marks of chunks. */
function streamText(received: string): string {
  let rest = received.slice(received.indexOf('\r\n\r\n') + 4)
  let text = ''
  for (;;) {
    const line = rest.indexOf('\r\n')
    const size = parseInt(rest.slice(0, line), 16)
    if (line === -1 || !(size > 0) || rest.length < line + 2 + size) return text
    text += rest.slice(line + 2, line + 2 + size)
    rest = rest.slice(line + 2 + size + 2)
  }
}

/** The numbers of the numbered frames that a stream has brought. */
function numbers(received: string): number[] {
  return [...received.matchAll(/"message":"(\d+) /g)].map((match) => Number(match[1]))
}

function numbered(number: number, padding: number): Frame {
  const message = `${number} ${'x'.repeat(padding)}`
  return {
    kind: 'materialize.error',
    ts: '2026-01-01T00:00:00.000Z',
    actor: 'a',
    errorType: 'ServiceError',
    message,
  }
}

test('a subscriber is greeted, then gets each frame as event, one line of data and an empty line', async (t) => {
  const { app } = await startApp(t)
  const port = await listen(app)
  const client = await subscribe(t, port)
  const headers = client.received.slice(0, client.received.indexOf('\r\n\r\n'))
  assert.match(headers, /^HTTP\/1\.1 200 OK\r\n/)
  assert.match(headers, /^content-type: text\/event-stream/im)
  assert.match(headers, /^set-cookie: svc_csrf=[A-Za-z0-9_-]{43}; Path=\/; SameSite=Strict\r?$/im)
  assert.match(headers, /^cache-control: private, no-cache\r?$/im)
  const payload = { actor: 'agent:Zoë\n', record_ids: ['a'] }
  const bad = await app.inject({ method: 'POST', url: '/api/materialize', headers: CSRF, payload })
  assert.equal(bad.statusCode, 400)
  await app.inject({
    method: 'POST',
    url: '/api/materialize',
    headers: CSRF,
    payload: { ...payload, actor: 'agent:Zoë' },
  })
  await client.waitFor((text) => text.includes('materialize.end') && text.endsWith('\n\n\r\n'))
  const text = Buffer.from(streamText(client.received), 'latin1')
    .toString('utf8')
    .replaceAll(/"ts":"[^"]+"/g, '"ts":""')
  assert.equal(
    text,
    ': connected\n\n' +
      'event: materialize.start\n' +
      'data: {"kind":"materialize.start","ts":"","actor":"agent:Zoë","targets":null,"record_ids":["a"],"force":false}\n\n' +
      'event: materialize.end\n' +
      'data: {"kind":"materialize.end","ts":"","actor":"agent:Zoë","materialized":1,"skipped":0,"failures":0,"total_cost":0}\n\n',
  )
})

test('an aborted run is told as materialize.error with the type and the message', async (t) => {
  const { app } = await startApp(t)
  const port = await listen(app)
  const client = await subscribe(t, port)
  const payload = { actor: 'agent:test', targets: ['title'] }
  await app.inject({ method: 'POST', url: '/api/materialize', headers: CSRF, payload })
  const text = await client.waitFor((so_far) => so_far.includes('event: materialize.error'))
  assert.match(text, /"error_type":"OperationError","message":"no derivation has the target/)
})

test('a keepalive comment is sent again and again', async (t) => {
  const { app } = await startApp(t, { app: { keepAliveMs: 5 } })
  const client = await subscribe(t, await listen(app))
  await client.waitFor((text) => text.split(': keepalive\n\n').length > 3)
})

test('D3: the stream is there while the contract is broken', async (t) => {
  const { app } = await startApp(t, { files: { contract: 'kind: Nonsense\n' } })
  const client = await subscribe(t, await listen(app))
  await app.inject({
    method: 'POST',
    url: '/api/materialize',
    headers: CSRF,
    payload: { actor: 'agent:test' },
  })
  await client.waitFor((text) => text.includes('"error_type":"ContractError"'))
})

test('a stalled subscriber costs the others nothing: it loses its oldest frames and keeps the newest 64', async (t) => {
  const { app, sheet } = await startApp(t)
  const port = await listen(app)
  const [stalled, reader] = [await subscribe(t, port), await subscribe(t, port)]
  stalled.socket.pause()
  const count = 400
  let seen = 0
  for (let number = 0; number < count; number++) {
    sheet.events.publish(numbered(number, 100_000))
    await reader.waitFor((text) => text.includes(`"message":"${number} `) && text.endsWith('\n\n\r\n'))
    seen += numbers(reader.received).length
    assert.deepEqual(numbers(reader.received), [number])
    reader.received = ''
  }
  assert.equal(seen, count)
  stalled.socket.resume()
  const got = numbers(await stalled.waitFor((text) => text.includes(`"message":"${count - 1} `)))
  const newest = Array.from({ length: 64 }, (_, index) => count - 64 + index)
  const before = got.slice(0, -64)
  assert.deepEqual(got.slice(-64), newest)
  assert.deepEqual(before, Array.from(before.keys()), 'what the socket had taken comes first, without gaps')
  assert.ok(
    before.length > 0 && before.length < count - 64,
    `${before.length} frames were taken by the socket`,
  )
})

test('a subscriber that leaves is forgotten', async (t) => {
  const { app, sheet } = await startApp(t)
  const port = await listen(app)
  const subscriptions = new Set<object>()
  const { events } = sheet
  const open = events.subscribe.bind(events)
  const { promise: left, resolve } = Promise.withResolvers<void>()
  events.subscribe = (wake) => {
    const subscription = open(() => {
      wake()
      if (subscription.closed) resolve()
    })
    subscriptions.add(subscription)
    return subscription
  }
  const client = await subscribe(t, port)
  client.socket.destroy()
  await left
  assert.equal(subscriptions.size, 1)
})

test('closing the app ends its streams, those of stalled readers and of one with frames waiting too', async (t) => {
  const { app, sheet } = await startApp(t)
  const port = await listen(app)
  const [stalled, reader] = [await subscribe(t, port), await subscribe(t, port)]
  stalled.socket.pause()
  for (let number = 0; number < 200; number++) {
    sheet.events.publish(numbered(number, 100_000))
    await reader.waitFor((text) => text.includes(`"message":"${number} `))
    reader.received = ''
  }
  sheet.events.publish(numbered(200, 0))
  await app.close()
  assert.deepEqual(numbers(await reader.end()), [200])
  stalled.socket.resume()
  await stalled.end()
})

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Frame } from '../../src/events/frame.ts'
import { CSRF, listen, startApp } from '../support/http-fixture.ts'
import { RawClient } from '../support/raw-client.ts'

// What holds where the frames of a sheet are told by one process alone; shared-events.test.ts has what holds where servers
// share them.

async function subscribe(t: TestContext, port: number): Promise<RawClient> {
  const client = await RawClient.open(t, port)
  client.send('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await client.waitFor((text) => text.includes(': connected\n\n'))
  return client
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

test('D3: the stream works while the contract is invalid', async (t) => {
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

test('a stalled subscriber does not affect the others: it loses its oldest frames and keeps the newest 64', async (t) => {
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

test('a subscriber that disconnects is removed', async (t) => {
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

test('closing the app ends its streams, also those of stalled clients and with waiting frames', async (t) => {
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

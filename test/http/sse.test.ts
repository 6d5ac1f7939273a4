import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { EventBus } from '../../src/events/event-bus.ts'
import { EventStreams } from '../../src/http/sse.ts'
import { onEnd } from '../support/on-end.ts'
import { RawClient } from '../support/raw-client.ts'

const BIG = 'x'.repeat(300_000)

interface Streaming {
  readonly port: number
  readonly streams: EventStreams
  /** The bus of the stream that was opened last. */
  readonly bus: EventBus<string>
}

async function stream(t: TestContext): Promise<Streaming> {
  const streams = new EventStreams(60_000)
  const bus = new EventBus<string>()
  const server = createServer((_request, response) => {
    streams.open(response, {}, { subscribe: (wake) => bus.subscribe(wake), render: (frame) => frame })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onEnd(t, () => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, streams, bus }
}

async function subscribe(t: TestContext, port: number): Promise<RawClient> {
  const client = await RawClient.open(t, port)
  client.send('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  await client.waitFor((text) => text.includes(': connected'))
  return client
}

test('a source that publishes large frames and ends at once is heard to its end', async (t) => {
  const { port, bus } = await stream(t)
  const client = await subscribe(t, port)
  for (const name of ['one', 'two', 'three']) bus.publish(`${name} ${BIG}`)
  bus.publish('the end')
  bus.close()
  const text = await client.end()
  for (const name of ['one', 'two', 'three']) assert.match(text, new RegExp(`${name} x`))
  assert.match(text, /the end/)
  assert.match(text, /\r\n0\r\n\r\n$/, 'the answer is whole')
})

test('closing the streams cuts off a client that does not take the end', async (t) => {
  const { port, streams, bus } = await stream(t)
  const client = await subscribe(t, port)
  client.socket.pause()
  for (let count = 0; count < 60; count += 1) bus.publish(`${count} ${BIG}`)
  bus.close()
  streams.close()
  client.socket.resume()
  assert.doesNotMatch(await client.end(), /\r\n0\r\n\r\n$/)
})

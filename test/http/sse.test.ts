import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { EventBus } from '../../src/events/event-bus.ts'
import { EventStreams, type StreamTimes } from '../../src/http/response/event-streams.ts'
import { onEnd } from '../support/on-end.ts'
import { RawClient } from '../support/raw-client.ts'

const MIB = 1024 * 1024
const BIG = 'x'.repeat(300_000)

interface Message {
  readonly text: string
}

interface Streaming {
  readonly port: number
  readonly streams: EventStreams
  /** The bus of the stream that was opened last. */
  readonly bus: EventBus<Message>
  /** The server's ends of the connections, in the order in which they were opened. */
  readonly connections: readonly Socket[]
}

async function stream(t: TestContext, times: Partial<StreamTimes> = {}): Promise<Streaming> {
  const streams = new EventStreams({ keepAliveMs: 60_000, stalledMs: 60_000, ...times })
  const bus = new EventBus<Message>()
  const server = createServer((_request, response) => {
    streams.open<Message>(
      response,
      {},
      {
        subscribe: (...subscriber) => bus.subscribe(...subscriber),
        render: ({ text }) => text,
      },
    )
  })
  const connections: Socket[] = []
  server.on('connection', (socket) => connections.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onEnd(t, () => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, streams, bus, connections }
}

async function subscribe(t: TestContext, port: number): Promise<RawClient> {
  const client = await RawClient.open(t, port)
  client.send('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  await client.waitFor((text) => text.includes(': connected'))
  return client
}

test('a source that publishes large frames and ends at once is sent to its end', async (t) => {
  const { port, bus } = await stream(t)
  const client = await subscribe(t, port)
  for (const name of ['one', 'two', 'three']) bus.publish({ text: `${name} ${BIG}` })
  bus.publish({ text: 'the end' })
  bus.close()
  const text = await client.end()
  for (const name of ['one', 'two', 'three']) assert.match(text, new RegExp(`${name} x`))
  assert.match(text, /the end/)
  assert.match(text, /\r\n0\r\n\r\n$/, 'the answer is whole')
})

test('closing the streams disconnects a client that does not read the end', async (t) => {
  const { port, streams, bus } = await stream(t)
  const client = await subscribe(t, port)
  client.socket.pause()
  for (let count = 0; count < 60; count += 1) bus.publish({ text: `${count} ${BIG}` })
  bus.close()
  streams.close()
  client.socket.resume()
  assert.doesNotMatch(await client.end(), /\r\n0\r\n\r\n$/)
})

/** Publishes so much that a client who does not read stalls, and waits until another has it all. */
async function fill(bus: EventBus<Message>, reader: RawClient): Promise<void> {
  for (let count = 0; count < 60; count += 1) {
    bus.publish({ text: `${count} ${BIG}!` })
    await reader.waitFor((text) => text.includes('!\r\n'))
    reader.received = ''
  }
}

test('a client that reads none of its waiting frames is disconnected after a while, a quiet stream is not', async (t) => {
  const { port, bus, connections } = await stream(t, { stalledMs: 1000 })
  const [stalled, reader, quiet] = [
    await subscribe(t, port),
    await subscribe(t, port),
    await subscribe(t, port),
  ]
  const closed = once(connections[0] ?? assert.fail(), 'close')
  // Idle for as long as a stalled client has.
  const quietForLong = once(connections[2] ?? assert.fail(), 'timeout')
  stalled.socket.pause()
  await fill(bus, reader)
  await closed
  assert.equal(bus.size, 2)
  stalled.socket.resume()
  assert.doesNotMatch(await stalled.end(), /\r\n0\r\n\r\n$/, 'the answer is not whole')
  await quietForLong
  bus.publish({ text: 'the news' })
  for (const client of [reader, quiet]) await client.waitFor((text) => text.includes('the news'))
})

test('a client that reads a large frame slowly is not disconnected', async (t) => {
  const { port, bus, connections } = await stream(t, { stalledMs: 1000, keepAliveMs: 100 })
  const client = await subscribe(t, port)
  const [connection = assert.fail()] = connections
  client.socket.pause()
  bus.publish({ text: `${'x'.repeat(80 * MIB)} the end` })
  // It is sent a comment every 100 ms.
  const clock = await subscribe(t, port)
  // After the first second Node finds that something waits, after each further one whether it has become less.
  for (let ticks = 0; ticks < 22; ticks += 1) {
    assert.ok(connection.writableLength > 0)
    // So much that the system notices: it passes on room in large pieces.
    client.received = ''
    client.socket.resume()
    await client.waitFor((text) => text.length > 1.5 * MIB)
    client.socket.pause()
    clock.received = ''
    await clock.waitFor((text) => text.includes(': keepalive'))
  }
  client.socket.resume()
  await client.waitFor((text) => {
    if (text.length > MIB) client.received = text.slice(-1000)
    // Comments may follow it.
    return client.received.includes(' the end')
  })
})

test('comments do not pile up behind waiting frames', async (t) => {
  const { port, bus, connections } = await stream(t, { keepAliveMs: 5 })
  const [stalled, reader] = [await subscribe(t, port), await subscribe(t, port)]
  stalled.socket.pause()
  await fill(bus, reader)
  const [connection = assert.fail()] = connections
  const before = connection.writableLength
  assert.ok(before > 0)
  await reader.waitFor((text) => text.split(': keepalive').length > 50)
  assert.equal(connection.writableLength, before)
})

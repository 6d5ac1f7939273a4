import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { QUEUE_BYTES, QUEUE_LIMIT } from '../../src/events/event-bus.ts'
import { renderFrame } from '../../src/wire/runs/materialize-frames.ts'
import { EventServerProcess } from '../support/event-server-process.ts'
import { frameNumbers, numberedFrame } from '../support/numbered-frame.ts'
import { onEnd } from '../support/on-end.ts'

const MIB = 1024 * 1024
const GREETING = ': connected\n\n\r\n'

/** A frame as it is on the connection: a chunk of its own. */
function chunkOf(number: number, bytes: number): Buffer {
  const text = Buffer.from(renderFrame(numberedFrame(number, bytes)))
  return Buffer.concat([Buffer.from(`${text.length.toString(16)}\r\n`), text, Buffer.from('\r\n')])
}

/** A subscriber on a connection of its own that holds every byte to what it should be. */
class Subscriber {
  readonly socket: Socket
  /** The number of expected bytes that have arrived. */
  taken = 0
  /** Unexpected bytes, after which nothing more is checked. */
  fault: string | null = null
  readonly #expected: Buffer
  #onProgress: () => void = () => undefined

  private constructor(socket: Socket, expected: Buffer) {
    this.socket = socket
    this.#expected = expected
  }

  static async open(t: TestContext, port: number, expected: Buffer): Promise<Subscriber> {
    const socket = connect(port, '127.0.0.1')
    onEnd(t, () => socket.destroy())
    const subscriber = new Subscriber(socket, expected)
    socket.write('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject)
      socket.on('close', () => reject(new Error('the stream ended')))
      let head = ''
      const onHead = (bytes: Buffer): void => {
        head += bytes.toString('latin1')
        if (!head.endsWith(GREETING)) return
        socket.off('data', onHead)
        socket.on('data', (more) => subscriber.#take(more))
        resolve()
      }
      socket.on('data', onHead)
    })
    return subscriber
  }

  /** Resolves when so many bytes have come, or others than expected. */
  async until(taken: number): Promise<void> {
    while (this.taken < taken && this.fault === null) {
      await new Promise<void>((resolve) => (this.#onProgress = resolve))
    }
  }

  #take(bytes: Buffer): void {
    const expected = this.#expected.subarray(this.taken, this.taken + bytes.length)
    if (!bytes.equals(expected) && this.fault === null) this.fault = bytes.toString('latin1', 0, 200)
    this.taken += bytes.length
    this.#onProgress()
  }
}

/** A subscriber that reads nothing until it is told to, and then all that comes. */
class Stalled {
  readonly #socket: Socket

  constructor({ socket }: Subscriber) {
    this.#socket = socket.removeAllListeners('data').pause()
  }

  /** The chunks that come until there is one that ends like this. */
  async resume(end: Buffer): Promise<Buffer[]> {
    const received: Buffer[] = []
    await new Promise<void>((resolve) => {
      let tail = Buffer.alloc(0)
      this.#socket.on('data', (bytes: Buffer) => {
        received.push(bytes)
        tail = Buffer.concat([tail, bytes]).subarray(-end.length)
        if (tail.equals(end)) resolve()
      })
      this.#socket.resume()
    })
    return chunksOf(Buffer.concat(received))
  }
}

/** Takes a chunked body apart. Throws where it is none. */
function chunksOf(body: Buffer): Buffer[] {
  const chunks: Buffer[] = []
  for (let start = 0; start < body.length;) {
    const head = body.indexOf('\r\n', start) + 2
    const end = head + parseInt(body.toString('latin1', start, head), 16) + 2
    assert.ok(end <= body.length && body.toString('latin1', end - 2, end) === '\r\n', 'a whole chunk')
    chunks.push(body.subarray(start, end))
    start = end
  }
  return chunks
}

const SUBSCRIBERS = 1000
const STALLED = 10
/** Frames of 100 KB, which fill what the system keeps for a connection that nobody reads. */
const FILLING = 60
const FRAMES = 300
/** Fewer at a time than a queue holds, so that nothing is dropped for those that read. */
const AT_ONCE = 50

/** Most frames are short; a few have ids of 20 KB, which would not fit a queue together. */
function sizeOf(number: number): number {
  if (number < FILLING) return 100_000
  return number % 100 === 99 ? 20_000 : 0
}

function numbersFrom(first: number, count: number): { number: number; bytes: number }[] {
  return Array.from({ length: count }, (_, index) => ({
    number: first + index,
    bytes: sizeOf(first + index),
  }))
}

test(`${SUBSCRIBERS} subscribers, ${STALLED} of them stalled: the others get every frame, those the newest ${QUEUE_LIMIT}, and memory stays flat`, async (t) => {
  const server = await EventServerProcess.start(t)
  const chunks = numbersFrom(0, FILLING + FRAMES).map(({ number, bytes }) => chunkOf(number, bytes))
  const all = Buffer.concat(chunks)
  const filling = Buffer.concat(chunks.slice(0, FILLING)).length
  const first = await Promise.all(
    Array.from({ length: STALLED + 1 }, () => Subscriber.open(t, server.port, all)),
  )
  const witness = first.pop() ?? assert.fail()
  const stalled = first.map((subscriber) => new Stalled(subscriber))
  for (let number = 0; number < FILLING; number += AT_ONCE) {
    await server.publish(numbersFrom(number, Math.min(AT_ONCE, FILLING - number)))
    await witness.until(Buffer.concat(chunks.slice(0, Math.min(number + AT_ONCE, FILLING))).length)
  }

  const rest = all.subarray(filling)
  const readers: Subscriber[] = []
  while (readers.length < SUBSCRIBERS - STALLED - 1) {
    const few = Array.from({ length: 43 }, () => Subscriber.open(t, server.port, rest))
    readers.push(...(await Promise.all(few)))
  }
  const before = await server.look()
  assert.equal(before.subscribers, SUBSCRIBERS)
  let published = filling
  for (let number = FILLING; number < FILLING + FRAMES; number += AT_ONCE) {
    published += Buffer.concat(chunks.slice(number, number + AT_ONCE)).length
    // It answers when everything is published: no subscriber can hold that up.
    await server.publish(numbersFrom(number, AT_ONCE))
    await witness.until(published)
    await Promise.all(readers.map((reader) => reader.until(published - filling)))
  }
  assert.deepEqual(
    [witness, ...readers].map(({ fault }) => fault).filter((fault) => fault !== null),
    [],
  )
  const after = await server.look()
  assert.equal(after.subscribers, SUBSCRIBERS)
  assert.ok(after.used - before.used < 16 * MIB, `${(after.used - before.used) / MIB} MiB more are used`)
  t.diagnostic(`the process is ${(after.rss - before.rss) / MIB} MiB larger`)

  const newest = chunks.slice(-QUEUE_LIMIT)
  for (const one of stalled) {
    const got = await one.resume(newest.at(-1) ?? assert.fail())
    const taken = got.length - QUEUE_LIMIT
    assert.ok(taken > 0 && taken < FILLING, `the socket had taken ${taken} frames`)
    assert.ok(Buffer.concat(got).equals(Buffer.concat([...chunks.slice(0, taken), ...newest])))
  }
})

test('a frame of many megabytes is stored once for all subscribers, and is released when it is sent', async (t) => {
  const server = await EventServerProcess.start(t)
  const size = 3 * QUEUE_BYTES
  const last = chunkOf(1, 0)
  const subscribers = await Promise.all(
    Array.from({ length: 8 }, () => Subscriber.open(t, server.port, Buffer.alloc(0))),
  )
  const stalled = subscribers.map((subscriber) => new Stalled(subscriber))
  const before = await server.look()
  await server.publish([
    { number: 0, bytes: size },
    { number: 1, bytes: 0 },
  ])
  const { used } = await server.look()
  assert.ok(used - before.used < 4 * size, `${(used - before.used) / MIB} MiB for 8 subscribers`)
  for (const one of stalled) {
    assert.deepEqual(
      (await one.resume(last)).map((chunk) => frameNumbers(chunk.toString('latin1', 0, 300))),
      [[0], [1]],
    )
  }
  assert.ok((await server.look()).used - before.used < size / 2, 'and it is gone when everybody has it')
})

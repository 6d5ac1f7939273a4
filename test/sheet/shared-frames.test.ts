import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { QUEUE_LIMIT } from '../../src/events/event-bus.ts'
import type { FramesMissed, Placed } from '../../src/events/frame.ts'
import { SharedSubscription } from '../../src/sheet/runs/watch/shared-subscription.ts'
import { Database } from '../../src/store/postgres/database/database.ts'
import { FrameFeed } from '../../src/store/postgres/frames/frame-feed.ts'
import type { KeptFrames } from '../../src/store/postgres/frames/frame-table.ts'
import { INTERNAL_TABLES, quoted } from '../../src/store/postgres/database/schema.ts'
import { parseStoreUrl } from '../../src/store/postgres/database/store-url.ts'
import type { SharedFrames } from '../../src/store/shared-frames.ts'
import { onEnd } from '../support/on-end.ts'
import { startPostgres } from '../support/postgres.ts'

const server = await startPostgres()

async function freshUrl(t: TestContext): Promise<string> {
  const url = server.freshUrl()
  const database = new Database(parseStoreUrl(url))
  onEnd(t, () => database.close())
  await database.exec(`CREATE SCHEMA ${quoted(database.location.schema)}; ${INTERNAL_TABLES}`)
  return url
}

function openFeed(t: TestContext, url: string, kept?: KeptFrames): FrameFeed {
  const database = new Database(parseStoreUrl(url))
  const feed = new FrameFeed(database, kept)
  onEnd(t, async () => {
    await feed.close()
    await database.close()
  })
  return feed
}

interface Numbered {
  readonly kind: string
  readonly number: number
}

type Told = Placed<Numbered | FramesMissed>

/** A subscriber who takes what waits, or does not for a while. */
class Reader {
  readonly told: Told[] = []
  stalled = false
  readonly subscription: SharedSubscription<Numbered>
  #wake: () => void = () => undefined

  constructor(frames: SharedFrames, after = 0, stream = 'sheet') {
    this.subscription = new SharedSubscription<Numbered>({
      frames,
      stream,
      after,
      wake: () => this.read(),
      isLast: ({ kind }) => kind === 'end',
    })
  }

  read(): void {
    while (!this.stalled) {
      const frame = this.subscription.take()
      if (frame === undefined) break
      this.told.push(frame)
    }
    this.#wake()
  }

  get numbers(): (number | string)[] {
    return this.told.map((frame) => ('number' in frame ? frame.number : frame.kind))
  }

  async until(is: (reader: this) => boolean): Promise<void> {
    while (!is(this)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}

function numbered(from: number, to: number, more: JsonObject = {}): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) =>
    JSON.stringify({ kind: 'numbered', number: from + index, ...more }),
  )
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

test('subscribers that join at any time, or return after any frame, get every frame once, in order', async (t) => {
  const url = await freshUrl(t)
  const feeds = [openFeed(t, url), openFeed(t, url)]
  const total = 1500
  const readers: Reader[] = []
  for (let number = 1; number <= total; number += 1) {
    feeds[number % 2]?.publish('sheet', numbered(number, number))
    // One statement each for the two feeds, or their frames would be told in another order than this.
    if (number % 2 === 0 || number % 7 === 0) await feeds[number % 2]?.settled()
    if (number % 100 === 0) readers.push(new Reader(feeds[(number / 100) % 2] ?? assert.fail()))
    if (number % 250 === 0) readers.push(new Reader(feeds[0] ?? assert.fail(), number / 2))
  }
  for (const reader of readers) {
    await reader.until(({ told }) => told.at(-1)?.eventId === total)
    const ids = reader.told.map(({ eventId }) => eventId ?? 0)
    assert.deepEqual(ids, range(ids[0] ?? 0, total))
    assert.equal(new Set(reader.numbers).size, ids.length)
  }
  assert.deepEqual(
    readers.map(({ told }) => told[0]?.eventId),
    readers.map(({ told }) => total - told.length + 1),
  )
})

test('a stalled subscriber holds no more than its queue, and reads the rest when it continues', async (t) => {
  const url = await freshUrl(t)
  const feed = openFeed(t, url)
  const [stalled, reader] = [new Reader(feed), new Reader(feed)]
  feed.publish('sheet', numbered(1, 1))
  await stalled.until(({ told }) => told.length === 1)
  stalled.stalled = true
  let reads = 0
  const read = feed.read.bind(feed)
  feed.read = (...args) => {
    reads += 1
    return read(...args)
  }
  for (let number = 2; number < 1000; number += 10) {
    feed.publish('sheet', numbered(number, number + 9))
    await reader.until(({ told }) => told.length === number + 9)
  }
  // A look whether anything came before the first frame may still be under way.
  assert.ok(
    reads < 10,
    `who keeps up is told, and who does not take anything asks for nothing: ${reads} reads`,
  )
  stalled.stalled = false
  stalled.read()
  await stalled.until(({ told }) => told.length === 1001)
  assert.deepEqual(stalled.numbers, range(1, 1001))
  assert.ok(reads >= Math.floor(1000 / QUEUE_LIMIT) - 1, `${reads} reads`)
  reads = 0
  for (let number = 1002; number <= 1101; number += 1) {
    feed.publish('sheet', numbered(number, number))
    await stalled.until(({ told }) => told.length === number)
  }
  assert.ok(reads < 10, `once it has caught up it is told again: ${reads} reads`)
})

test('a subscriber that missed removed frames is notified, and from there gets every frame', async (t) => {
  const url = await freshUrl(t)
  const feed = openFeed(t, url, { frames: 100, bytes: 1e9, milliseconds: 3_600_000 })
  feed.publish('sheet', numbered(1, 500))
  await feed.settled()
  feed.publish('sheet', numbered(501, 1000))
  await feed.settled()
  // The look at the oldest is part of storing what comes before this.
  feed.publish('sheet', numbered(1001, 1001))
  await feed.settled()
  const readers = [new Reader(feed, 7), new Reader(feed, 5000), new Reader(feed, 950)]
  await readers[0]?.until(({ told }) => told.length === 102)
  await readers[1]?.until(({ told }) => told.length === 1)
  feed.publish('sheet', numbered(1002, 1002))
  for (const reader of readers) await reader.until(({ told }) => told.at(-1)?.eventId === 1002)
  assert.deepEqual(readers[0]?.numbers, ['frames.missed', ...range(901, 1002)])
  assert.equal(readers[0]?.told[0]?.eventId, 900)
  assert.deepEqual(readers[1]?.numbers, ['frames.missed', 1002])
  assert.equal(readers[1]?.told[0]?.eventId, 1001)
  assert.deepEqual(readers[2]?.numbers, range(951, 1002))
})

test('a stream ends with its last frame, or with a given one if none arrives', async (t) => {
  const url = await freshUrl(t)
  const feed = openFeed(t, url)
  const [first, second] = [new Reader(feed, 0, 'run:1'), new Reader(feed, 0, 'run:2')]
  feed.publish('run:1', [...numbered(1, 3), '{"kind":"end","number":4}', ...numbered(5, 9)])
  await first.until(({ subscription }) => subscription.closed)
  assert.deepEqual(first.numbers, [1, 2, 3, 4])
  feed.publish('run:2', numbered(1, 200))
  second.stalled = true
  await feed.settled()
  second.subscription.endWith({ kind: 'end', number: 201 })
  second.stalled = false
  second.read()
  await second.until(({ subscription }) => subscription.closed)
  assert.deepEqual(second.numbers, range(1, 201))
  const late = new Reader(feed, 0, 'run:1')
  late.subscription.endWith({ kind: 'end', number: -1 })
  await late.until(({ subscription }) => subscription.closed)
  assert.deepEqual(late.numbers, [1, 2, 3, 4], 'the end that was told counts')
})

test('a subscriber is notified when the sheet is closed, and gets nothing after it has unsubscribed', async (t) => {
  const url = await freshUrl(t)
  const feed = openFeed(t, url)
  const [staying, leaving] = [new Reader(feed), new Reader(feed)]
  leaving.subscription.close()
  feed.publish('sheet', numbered(1, 1))
  await staying.until(({ told }) => told.length === 1)
  await feed.close()
  await staying.until(({ subscription }) => subscription.closed)
  assert.deepEqual(leaving.numbers, [])
  const late = new Reader(feed)
  await late.until(({ subscription }) => subscription.closed)
})

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { freshTables } from '../../../../test/support/shared-tables.ts'
import { RecordsError } from '../../../errors/service-error.ts'
import type { FrameListener, StoredFrame } from '../../shared-frames.ts'
import { Database } from '../database/database.ts'
import { FrameFeed } from './frame-feed.ts'
import type { KeptFrames } from './frame-table.ts'
import { parseStoreUrl } from '../database/store-url.ts'

const PUBLISHER = join(import.meta.dirname, '../../../../test/support/publish-frames.ts')

/** A feed with separate connections, as on another server. */
function openFeed(t: TestContext, url: string, kept?: KeptFrames): FrameFeed {
  const database = new Database(parseStoreUrl(url))
  const feed = new FrameFeed(database, kept)
  t.after(async () => {
    await feed.close()
    await database.close()
  })
  return feed
}

/** A subscriber of a stream that reads the frames that it missed, as `SharedSubscription` does. */
class Hearer implements FrameListener {
  readonly heard: StoredFrame[] = []
  readonly #feed: FrameFeed
  readonly #stream: string
  #position: number
  /** Number of gaps; each read ends when no frame has arrived during it. */
  #asked = 0
  #isReading = false
  #wake: () => void = () => undefined
  closed = false

  constructor(feed: FrameFeed, stream: string, after = 0) {
    this.#feed = feed
    this.#stream = stream
    this.#position = after
    feed.listen(stream, this)
    this.onGap()
  }

  onFrames(frames: readonly StoredFrame[], upTo: number): void {
    if (this.#isReading) this.#asked += 1
    else this.#take(frames, upTo)
  }

  onGap(): void {
    this.#asked += 1
    if (!this.#isReading) void this.#read()
  }

  settled(): Promise<void> {
    return Promise.resolve()
  }

  onClose(): void {
    this.closed = true
    this.#wake()
  }

  async until(count: number): Promise<readonly StoredFrame[]> {
    while (this.heard.length < count) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.heard
  }

  async #read(): Promise<void> {
    this.#isReading = true
    // A closed feed refuses each read at once: to go on would keep this process busy for ever.
    for (let isRead = false; !isRead && !this.closed;) {
      const asked = this.#asked
      const page = await this.#feed.read(this.#stream, this.#position).catch(() => null)
      // The connection was lost: the query is sent again, on another.
      if (page === null) continue
      this.#take(page.frames, page.upTo)
      isRead = page.whole && asked === this.#asked
    }
    this.#isReading = false
  }

  #take(frames: readonly StoredFrame[], upTo: number): void {
    this.heard.push(...frames.filter(({ id }) => id > this.#position))
    this.#position = Math.max(this.#position, upTo)
    this.#wake()
  }
}

function texts(frames: readonly StoredFrame[]): unknown[] {
  return frames.map(({ json }) => JSON.parse(json) as unknown)
}

function isAscending(frames: readonly StoredFrame[]): boolean {
  return frames.every(({ id }, index) => index === 0 || id > (frames[index - 1]?.id ?? id))
}

test('frames of one server reach every server, itself included, in the order of publishing', async (t) => {
  const { url } = await freshTables(t)
  const feeds = [openFeed(t, url), openFeed(t, url), openFeed(t, url)]
  const hearers = feeds.map((feed) => new Hearer(feed, 'sheet'))
  const elsewhere = feeds.map((feed) => new Hearer(feed, 'run:1'))
  for (let number = 1; number <= 300; number += 1) feeds[0]?.publish('sheet', [JSON.stringify({ number })])
  feeds[1]?.publish('run:1', ['"only here"'])
  for (const hearer of hearers) {
    const heard = await hearer.until(300)
    assert.deepEqual(
      texts(heard),
      Array.from({ length: 300 }, (_, index) => ({ number: index + 1 })),
    )
    assert.ok(isAscending(heard))
  }
  for (const hearer of elsewhere) assert.deepEqual(texts(await hearer.until(1)), ['only here'])
})

test('every subscriber of every server has every frame of every process once, in the order of their ids', async (t) => {
  const { url, database } = await freshTables(t)
  const feeds = [openFeed(t, url), openFeed(t, url)]
  const hearers = [...feeds, ...feeds].map((feed) => new Hearer(feed, 'sheet'))
  const [perProcess, processes] = [2000, 3]
  const publishers = Array.from({ length: processes }, (_, index) =>
    fork(PUBLISHER, [url, 'sheet', String(index), String(perProcess)]),
  )
  const exits = publishers.map((publisher) => once(publisher, 'exit'))
  const total = perProcess * processes
  const all = await Promise.all(hearers.map((hearer) => hearer.until(total)))
  await Promise.all(exits)
  for (const heard of all) {
    assert.deepEqual(
      heard.map(({ id }) => id),
      Array.from({ length: total }, (_, index) => index + 1),
    )
    for (let source = 0; source < processes; source += 1) {
      const own = texts(heard).filter((frame) => (frame as { source: string }).source === String(source))
      assert.deepEqual(
        own.map((frame) => (frame as { number: number }).number),
        Array.from({ length: perProcess }, (_, index) => index),
      )
    }
  }
  assert.equal(await feeds[0]?.last(), total)
  assert.equal((await database.get('SELECT count(*) AS n FROM "$frame"'))?.['n'], total)
})

test('frames of any size arrive, among small ones', async (t) => {
  const { url } = await freshTables(t)
  const [one, other] = [openFeed(t, url), openFeed(t, url)]
  const hearer = new Hearer(other, 'sheet')
  const sizes = [1, 7_000, 8_000, 9_000, 1, 5_000_000, 3_000_000, 2, 100_000]
  one.publish(
    'sheet',
    sizes.map((size) => JSON.stringify('ü'.repeat(size))),
  )
  const heard = await hearer.until(sizes.length)
  assert.deepEqual(
    texts(heard).map((text) => String(text).length),
    sizes,
  )
})

test('frames published while the listening connection is killed repeatedly arrive, each once', async (t) => {
  const { url, database } = await freshTables(t)
  const [one, other] = [openFeed(t, url), openFeed(t, url)]
  const hearer = new Hearer(other, 'sheet')
  let killed = 0
  for (let number = 0; number < 400; number += 1) {
    one.publish('sheet', [String(number)])
    if (number % 20 !== 0) continue
    await one.settled()
    const rows = await database.all(
      `SELECT pg_terminate_backend(pid) AS killed FROM pg_stat_activity
       WHERE query LIKE 'LISTEN "colophon_frames_%' OR query LIKE '%FROM "$feed" AS feed%' AND pid <> pg_backend_pid()`,
    )
    killed += rows.length
  }
  const heard = await hearer.until(400)
  assert.deepEqual(
    texts(heard),
    Array.from({ length: 400 }, (_, index) => index),
  )
  assert.ok(killed > 0)
})

test('frames published while every connection is killed are stored once, in their order', async (t) => {
  const { url, database } = await freshTables(t)
  const [one, other] = [openFeed(t, url), openFeed(t, url)]
  const hearer = new Hearer(other, 'sheet')
  for (let number = 0; number < 400; number += 1) {
    one.publish('sheet', [String(number)])
    if (number % 10 !== 0) continue
    await database.all(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL',
    )
  }
  const heard = await hearer.until(400)
  assert.deepEqual(
    texts(heard),
    Array.from({ length: 400 }, (_, index) => index),
  )
})

test('the oldest frames are removed, by number and by bytes, and a subscriber that asks for them is told so', async (t) => {
  const { url } = await freshTables(t)
  const few = openFeed(t, url, { frames: 100, bytes: 1e9, milliseconds: 3_600_000 })
  few.publish(
    'sheet',
    Array.from({ length: 1000 }, (_, index) => String(index)),
  )
  await few.settled()
  // Old frames are pruned after every batch of 500; the last frames follow.
  few.publish(
    'sheet',
    Array.from({ length: 500 }, () => '"later"'),
  )
  await few.settled()
  await few.close()
  const read = await openFeed(t, url).read('sheet', 1)
  assert.equal(read.missedUpTo, 1400)
  assert.equal(read.frames[0]?.id, 1401)
  const kept = await openFeed(t, url).read('sheet', 1400)
  assert.equal(kept.missedUpTo, null)
  assert.equal(kept.frames[0]?.id, 1401)

  const small = openFeed(t, url, { frames: 1e6, bytes: 10_000, milliseconds: 3_600_000 })
  small.publish(
    'sheet',
    Array.from({ length: 20 }, () => JSON.stringify('x'.repeat(998))),
  )
  await small.settled()
  await small.close()
  const after = await openFeed(t, url).read('sheet', 1505)
  assert.deepEqual([after.missedUpTo, after.frames.length], [1510, 10])
})

test('frames are kept for a limited time, but an id is never used twice', async (t) => {
  const { url } = await freshTables(t)
  const feed = openFeed(t, url, { frames: 100, bytes: 1e9, milliseconds: -1000 })
  feed.publish('sheet', ['1', '2', '3'])
  await feed.close()
  const later = openFeed(t, url)
  assert.deepEqual(await later.read('sheet', 3), { frames: [], upTo: 3, whole: true, missedUpTo: null })
  assert.deepEqual(await later.read('sheet', 2), { frames: [], upTo: 3, whole: true, missedUpTo: 3 })
  const hearer = new Hearer(later, 'sheet', 3)
  later.publish('sheet', ['4'])
  assert.deepEqual(await hearer.until(1), [{ id: 4, json: '4', stream: 'sheet' }])
})

test('an id that the store has not assigned yet counts as missed: the store is another', async (t) => {
  const { url } = await freshTables(t)
  const feed = openFeed(t, url)
  feed.publish('sheet', ['1'])
  await feed.close()
  assert.deepEqual(await openFeed(t, url).read('sheet', 99), {
    frames: [],
    upTo: 1,
    whole: true,
    missedUpTo: 1,
  })
})

test('frames published right before the end are stored, and listeners are notified of the end', async (t) => {
  const { url } = await freshTables(t)
  const feed = openFeed(t, url)
  const hearer = new Hearer(feed, 'sheet')
  feed.publish('sheet', ['"last words"'])
  assert.deepEqual(texts(await hearer.until(1)), ['last words'])
  feed.publish('sheet', ['"the very last"'])
  await feed.close()
  assert.ok(hearer.closed)
  const { frames } = await openFeed(t, url).read('sheet', 0)
  assert.deepEqual(texts(frames), ['last words', 'the very last'])
})

test('frames whose storing was not confirmed are stored once, whether or not they had been', async (t) => {
  const { url, database } = await freshTables(t)
  const hearer = new Hearer(openFeed(t, url), 'sheet')
  const get = database.get.bind(database)
  let stored = 0
  database.get = async (sql, ...params) => {
    if (!sql.includes('INSERT INTO "$frame"')) return get(sql, ...params)
    stored += 1
    if (stored % 4 === 3) throw new RecordsError('the connection is lost before it is stored')
    const row = await get(sql, ...params)
    if (stored % 4 === 1) throw new RecordsError('the connection is lost after it was stored')
    return row
  }
  const feed = new FrameFeed(database)
  for (let number = 0; number < 20; number += 1) {
    feed.publish('sheet', [JSON.stringify(number)])
    await feed.settled()
  }
  assert.deepEqual(
    texts(await hearer.until(20)),
    Array.from({ length: 20 }, (_, index) => index),
  )
  await feed.close()
  assert.ok(stored > 20)
  assert.equal((await get('SELECT count(*) AS n FROM "$frame"'))?.['n'], 20)
})

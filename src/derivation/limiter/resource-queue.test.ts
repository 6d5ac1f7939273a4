import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { DEFAULT_LIMITS, type LimitPolicy } from './limit-policy.ts'
import { systemClock } from './clock.ts'
import { ResourceQueue } from './resource-queue.ts'
import type { Place, Turn } from './resource-queue.ts'

const HOUR = 3_600_000

/** A queue on a clock that advances only when `pass` is called. */
class Line {
  readonly queue = new ResourceQueue({ ...systemClock, now: () => Date.now() })
  /** The names of calls that got a permit, or were refused with a status, in order. */
  readonly log: string[] = []
  readonly turns = new Map<string, Turn>()
  readonly #t: TestContext
  #order = 0

  constructor(t: TestContext, policy: Partial<LimitPolicy> = {}) {
    this.#t = t
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 })
    this.adopt(policy)
  }

  adopt(policy: Partial<LimitPolicy>): void {
    this.queue.adopt({ ...DEFAULT_LIMITS, ...policy })
  }

  /** Adds a call to the queue; `sent` is whether its request is sent as soon as it has a permit. */
  async join(
    name: string,
    { order = this.#order++, wait = 0, signal = new AbortController().signal, sent = true } = {},
  ): Promise<void> {
    const notBefore = wait === 0 ? -Infinity : Date.now() + wait
    void this.#await(name, { order, notBefore, signal }, sent)
    await setImmediate()
  }

  async #await(name: string, place: Place, sent: boolean): Promise<void> {
    try {
      const turn = await this.queue.turn(place)
      this.log.push(turn.ok ? name : `${name}: ${turn.error}`)
      if (!turn.ok) return
      this.turns.set(name, turn.value)
      if (sent) turn.value.sent()
    } catch (error) {
      this.log.push(`${name}: ${(error as Error).message}`)
    }
  }

  async end(name: string): Promise<void> {
    this.turns.get(name)?.end()
    await setImmediate()
  }

  async pass(ms: number): Promise<void> {
    this.#t.mock.timers.tick(ms)
    await setImmediate()
  }

  /** Asserts which calls got a permit or were refused since the last check. */
  saw(...names: readonly string[]): void {
    assert.deepEqual(this.log.splice(0), names)
  }
}

test('as many as the policy allows are under way, and an edited policy holds at once', async (t) => {
  const line = new Line(t, { concurrency: 2 })
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await line.join(name)
  line.saw('a', 'b')
  await line.end('a')
  line.saw('c')
  line.adopt({ concurrency: 4 })
  await setImmediate()
  line.saw('d', 'e')
  line.adopt({ concurrency: 1 })
  for (const name of ['b', 'c', 'd']) await line.end(name)
  line.saw()
  await line.end('e')
  line.saw('f')
})

test('a rate holds, on the clock, to the millisecond', async (t) => {
  const line = new Line(t, { concurrency: 256, rateLimit: { calls: 10, perMs: 1000 } })
  for (let index = 0; index < 30; index += 1) await line.join(String(index))
  const starts: number[] = []
  for (let ms = 0; ms <= 3300; ms += 1) {
    for (const _ of line.log.splice(0)) starts.push(ms)
    await line.pass(1)
  }
  assert.equal(starts.length, 30)
  for (const [index, start] of starts.entries()) {
    const tenBefore = starts[index - 10]
    if (tenBefore !== undefined) assert.ok(start - tenBefore >= 1100, `${start}`)
  }
})

test('timers that come late do not keep 1000/s from being reached', async (t) => {
  const line = new Line(t, { concurrency: 256, rateLimit: { calls: 1000, perMs: 1000 } })
  for (let index = 0; index < 1000; index += 1) {
    void line.join(String(index)).then(() => line.end(String(index)))
  }
  await setImmediate()
  for (let ms = 0; ms < 1120; ms += 7) {
    await line.pass(7)
    for (const name of line.turns.keys()) await line.end(name)
    line.turns.clear()
  }
  assert.ok(line.log.length >= 990, String(line.log.length))
})

test('a place in the rate is used up until the request has gone out', async (t) => {
  const line = new Line(t, { rateLimit: { calls: 1, perMs: 1000 } })
  await line.join('connecting', { sent: false })
  await line.join('next')
  await line.pass(5000)
  line.saw('connecting')
  line.turns.get('connecting')?.sent()
  await line.pass(1000)
  line.saw()
  await line.pass(100)
  line.saw('next')
})

test('who waits to be tried again takes up no place, and comes first when the time is there', async (t) => {
  const line = new Line(t, { concurrency: 1 })
  for (const order of [1, 2, 3]) await line.join(`new ${order}`, { order })
  await line.join('again', { order: 0, wait: 500 })
  line.saw('new 1')
  await line.pass(499)
  await line.end('new 1')
  line.saw('new 2')
  await line.pass(1)
  line.saw()
  await line.end('new 2')
  line.saw('again')
})

test('a pause holds everybody up until its end; a shorter one does not end it', async (t) => {
  const line = new Line(t, { retries: 1 })
  await line.join('before')
  line.queue.pause(2000, 429)
  line.queue.pause(500, 429)
  await line.join('a')
  await line.join('b')
  await line.end('before')
  await line.pass(1999)
  line.saw('before')
  await line.pass(1)
  line.saw('a', 'b')
})

test('a host that wants to be left alone for more than an hour: all are turned away, after a minute one may see', async (t) => {
  const line = new Line(t, { retries: 1, concurrency: 1 })
  for (const name of ['under way', 'waiting']) await line.join(name)
  await line.join('in backoff', { wait: 10_000 })
  line.queue.pause(HOUR + 1, 503)
  await line.join('new')
  line.saw('under way', 'waiting: 503', 'in backoff: 503', 'new: 503')
  await line.end('under way')
  await line.pass(59_999)
  await line.join('too early')
  line.saw('too early: 503')
  await line.pass(1)
  for (const name of ['first', 'second']) await line.join(name)
  line.saw('first', 'second: 503')
  await line.end('first')
  await line.pass(59_999)
  await line.join('third')
  line.saw('third: 503')
})

test('the one who sees that the host is back lets all others in; one let in before the pause does not', async (t) => {
  const line = new Line(t, { retries: 1 })
  await line.join('before')
  line.queue.pause(2 * HOUR, 429)
  line.turns.get('before')?.succeeded()
  await line.join('a')
  line.saw('before', 'a: 429')
  await line.pass(60_000)
  await line.join('probe')
  line.turns.get('probe')?.succeeded()
  for (const name of ['b', 'c']) await line.join(name)
  line.saw('probe', 'b', 'c')
})

test('while the one who is to see is refused again, nobody else is let in', async (t) => {
  const line = new Line(t, { retries: 1 })
  line.queue.pause(2 * HOUR, 429)
  await line.pass(60_000)
  await line.join('probe')
  line.queue.pause(3 * HOUR, 503)
  await line.join('a')
  line.saw('probe', 'a: 503')
})

test('what a host has said is forgotten after an hour, and a shorter pause then counts', async (t) => {
  const line = new Line(t, { retries: 1 })
  line.queue.pause(20 * HOUR, 429)
  await line.pass(HOUR)
  for (const name of ['a', 'b']) await line.join(name)
  line.saw('a', 'b')
  line.queue.pause(500, 429)
  await line.join('c')
  line.saw()
  await line.pass(500)
  line.saw('c')
})

test('one more request of a try waits for the rate alone, and before all who have not been let in', async (t) => {
  const line = new Line(t, { concurrency: 1, rateLimit: { calls: 10, perMs: 1000 } })
  for (const name of ['a', 'b']) await line.join(name)
  const seen: string[] = []
  void line.turns
    .get('a')
    ?.another(new AbortController().signal)
    .then(() => seen.push('hop'))
  await line.pass(85)
  assert.deepEqual(seen, [])
  await line.pass(1)
  assert.deepEqual(seen, ['hop'])
  await line.end('a')
  line.saw('a')
  await line.pass(111)
  line.saw('b')
})

test('one more request that does not go out uses up its place in the rate until the try is over', async (t) => {
  const line = new Line(t, { rateLimit: { calls: 1, perMs: 1000 } })
  await line.join('a')
  void line.turns.get('a')?.another(new AbortController().signal)
  await line.pass(1100)
  await line.join('b')
  await line.pass(60_000)
  line.saw('a')
  await line.end('a')
  await line.pass(1100)
  line.saw('b')
})

test('who aborts the wait for one more request is gone at once, with listener, place and timer', async (t) => {
  const line = new Line(t, { rateLimit: { calls: 1, perMs: 1000 } })
  await line.join('a')
  const cleared = t.mock.method(globalThis, 'clearTimeout')
  const controller = new AbortController()
  const hop = line.turns.get('a')?.another(controller.signal)
  controller.abort(new Error('stopping'))
  await assert.rejects(hop ?? Promise.resolve(), /stopping/)
  assert.equal(cleared.mock.callCount(), 1)
  assert.deepEqual(getEventListeners(controller.signal, 'abort'), [])
  await assert.rejects(line.turns.get('a')?.another(controller.signal) ?? Promise.resolve(), /stopping/)
  await line.join('b')
  await line.pass(1100)
  line.saw('a', 'b')
})

test('where nothing is retried there is no pause', async (t) => {
  const line = new Line(t, { retries: 0 })
  line.queue.pause(2 * HOUR, 429)
  await line.join('a')
  line.saw('a')
})

test('who aborts is gone at once, with listener, place and timer', async (t) => {
  const line = new Line(t, { concurrency: 1, retries: 1 })
  const cleared = t.mock.method(globalThis, 'clearTimeout')
  const controller = new AbortController()
  const { signal } = controller
  line.queue.pause(HOUR, 429)
  await line.join('gone', { signal })
  controller.abort(new Error('stopping'))
  await setImmediate()
  line.saw('gone: stopping')
  assert.equal(cleared.mock.callCount(), 1)
  assert.deepEqual(getEventListeners(signal, 'abort'), [])
  await line.join('late', { signal })
  line.saw('late: stopping')
  await line.join('stays')
  await line.pass(HOUR)
  line.saw('stays')
})

test('a turn that ends without having been sent counts in the rate all the same, and but once', async (t) => {
  const line = new Line(t, { rateLimit: { calls: 1, perMs: 1000 } })
  await line.join('refused', { sent: false })
  await line.join('next')
  await line.end('refused')
  line.turns.get('refused')?.sent()
  await line.pass(1099)
  line.saw('refused')
  await line.pass(1)
  line.saw('next')
  await line.join('after')
  await line.pass(1099)
  line.saw()
  await line.pass(1)
  line.saw('after')
})

test('closing lets everybody in', async (t) => {
  const line = new Line(t, { concurrency: 1, retries: 1, rateLimit: { calls: 1, perMs: HOUR } })
  await line.join('a')
  await line.join('b', { wait: 1000 })
  line.queue.pause(1000, 429)
  line.queue.close()
  await line.join('c')
  line.saw('a', 'b', 'c')
})

test('calls that are ended by one signal take no other with them, though one is due', async (t) => {
  const line = new Line(t)
  const run = new AbortController()
  await line.join('a', { wait: 100, signal: run.signal })
  await line.join('b', { wait: 100, signal: run.signal })
  await line.join('other', { wait: 1000 })
  // Both are due, and their timer has not fired.
  t.mock.timers.setTime(1_000_101)
  run.abort(new Error('ended'))
  await setImmediate()
  await line.pass(5000)
  assert.ok(line.log.includes('other'), line.log.join(', '))
})

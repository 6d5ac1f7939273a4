import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { DEFAULT_LIMITS, type LimitPolicy } from './limit-policy.ts'
import { systemClock } from './clock.ts'
import { ResourceQueue } from './resource-queue.ts'
import type { QueueEntry, Permit } from './resource-queue.ts'

const HOUR = 3_600_000

/** A queue on a clock that advances only when `pass` is called. */
class Line {
  readonly queue = new ResourceQueue({ ...systemClock, now: () => Date.now() })
  /** The names of calls that got a permit, or were refused with a status, in order. */
  readonly log: string[] = []
  readonly permits = new Map<string, Permit>()
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

  async #await(name: string, place: QueueEntry, sent: boolean): Promise<void> {
    try {
      const permit = await this.queue.permit(place)
      this.log.push(permit.ok ? name : `${name}: ${permit.error}`)
      if (!permit.ok) return
      this.permits.set(name, permit.value)
      if (sent) permit.value.sent()
    } catch (error) {
      this.log.push(`${name}: ${(error as Error).message}`)
    }
  }

  async end(name: string): Promise<void> {
    this.permits.get(name)?.end()
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

test('concurrency follows the policy, and an edited policy applies at once', async (t) => {
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

test('a rate holds to the millisecond of the clock', async (t) => {
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

test('late timers do not prevent a rate of 1000/s', async (t) => {
  const line = new Line(t, { concurrency: 256, rateLimit: { calls: 1000, perMs: 1000 } })
  for (let index = 0; index < 1000; index += 1) {
    void line.join(String(index)).then(() => line.end(String(index)))
  }
  await setImmediate()
  for (let ms = 0; ms < 1120; ms += 7) {
    await line.pass(7)
    for (const name of line.permits.keys()) await line.end(name)
    line.permits.clear()
  }
  assert.ok(line.log.length >= 990, String(line.log.length))
})

test('a slot of the rate is used up until the request is sent', async (t) => {
  const line = new Line(t, { rateLimit: { calls: 1, perMs: 1000 } })
  await line.join('connecting', { sent: false })
  await line.join('next')
  await line.pass(5000)
  line.saw('connecting')
  line.permits.get('connecting')?.sent()
  await line.pass(1000)
  line.saw()
  await line.pass(100)
  line.saw('next')
})

test('a call that waits for a retry uses no permit, and starts first when it is due', async (t) => {
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

test('a pause delays all calls until its end; a shorter one does not end it', async (t) => {
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

test('a pause of more than an hour refuses all calls; after a minute one call tests the host', async (t) => {
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

test('the call that finds the host responding ends the pause; one that started before the pause does not', async (t) => {
  const line = new Line(t, { retries: 1 })
  await line.join('before')
  line.queue.pause(2 * HOUR, 429)
  line.permits.get('before')?.succeeded()
  await line.join('a')
  line.saw('before', 'a: 429')
  await line.pass(60_000)
  await line.join('probe')
  line.permits.get('probe')?.succeeded()
  for (const name of ['b', 'c']) await line.join(name)
  line.saw('probe', 'b', 'c')
})

test('while the testing call is refused again, no other starts', async (t) => {
  const line = new Line(t, { retries: 1 })
  line.queue.pause(2 * HOUR, 429)
  await line.pass(60_000)
  await line.join('probe')
  line.queue.pause(3 * HOUR, 503)
  await line.join('a')
  line.saw('probe', 'a: 503')
})

test('a pause expires after an hour, and a shorter pause then counts', async (t) => {
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

test('a further request of a try waits for the rate only, and before all calls without a permit', async (t) => {
  const line = new Line(t, { concurrency: 1, rateLimit: { calls: 10, perMs: 1000 } })
  for (const name of ['a', 'b']) await line.join(name)
  const seen: string[] = []
  void line.permits
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

test('a further request that is not sent uses up its slot until the try has ended', async (t) => {
  const line = new Line(t, { rateLimit: { calls: 1, perMs: 1000 } })
  await line.join('a')
  void line.permits.get('a')?.another(new AbortController().signal)
  await line.pass(1100)
  await line.join('b')
  await line.pass(60_000)
  line.saw('a')
  await line.end('a')
  await line.pass(1100)
  line.saw('b')
})

test('an aborted wait for a further request ends at once, with its listener, slot and timer', async (t) => {
  const line = new Line(t, { rateLimit: { calls: 1, perMs: 1000 } })
  await line.join('a')
  const cleared = t.mock.method(globalThis, 'clearTimeout')
  const controller = new AbortController()
  const hop = line.permits.get('a')?.another(controller.signal)
  controller.abort(new Error('stopping'))
  await assert.rejects(hop ?? Promise.resolve(), /stopping/)
  assert.equal(cleared.mock.callCount(), 1)
  assert.deepEqual(getEventListeners(controller.signal, 'abort'), [])
  await assert.rejects(line.permits.get('a')?.another(controller.signal) ?? Promise.resolve(), /stopping/)
  await line.join('b')
  await line.pass(1100)
  line.saw('a', 'b')
})

test('without retries there is no pause', async (t) => {
  const line = new Line(t, { retries: 0 })
  line.queue.pause(2 * HOUR, 429)
  await line.join('a')
  line.saw('a')
})

test('an aborted wait ends at once, with its listener, permit and timer', async (t) => {
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

test('a permit that ends unsent counts towards the rate, and once', async (t) => {
  const line = new Line(t, { rateLimit: { calls: 1, perMs: 1000 } })
  await line.join('refused', { sent: false })
  await line.join('next')
  await line.end('refused')
  line.permits.get('refused')?.sent()
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

test('closing starts all calls', async (t) => {
  const line = new Line(t, { concurrency: 1, retries: 1, rateLimit: { calls: 1, perMs: HOUR } })
  await line.join('a')
  await line.join('b', { wait: 1000 })
  line.queue.pause(1000, 429)
  line.queue.close()
  await line.join('c')
  line.saw('a', 'b', 'c')
})

test('calls that one signal ends do not start others, though one is due', async (t) => {
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

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventBus, QUEUE_BYTES, QUEUE_LIMIT, type Subscription } from './event-bus.ts'
import type { Frame } from './frame.ts'

function numbered(number: number): Frame {
  return { kind: 'materialize.error', ts: '', actor: '', errorType: '', message: String(number) }
}

function takeAll(subscription: Subscription): number[] {
  const numbers: number[] = []
  for (let frame = subscription.take(); frame !== undefined; frame = subscription.take()) {
    if (frame.kind === 'materialize.error') numbers.push(Number(frame.message))
  }
  return numbers
}

test('every subscriber gets every frame published since it subscribed, in order', () => {
  const bus = new EventBus()
  const early = bus.subscribe(() => undefined)
  bus.publish(numbered(1))
  const late = bus.subscribe(() => undefined)
  bus.publish(numbered(2))
  bus.publish(numbered(3))
  assert.deepEqual(takeAll(early), [1, 2, 3])
  assert.deepEqual(takeAll(late), [2, 3])
})

test('a full queue drops the oldest frame, of that subscriber alone', () => {
  const bus = new EventBus()
  const slow = bus.subscribe(() => undefined)
  const quick: number[] = []
  const reader = bus.subscribe(() => quick.push(...takeAll(reader)))
  for (let number = 0; number < QUEUE_LIMIT + 10; number++) bus.publish(numbered(number))
  assert.equal(QUEUE_LIMIT, 64)
  assert.deepEqual(
    takeAll(slow),
    Array.from({ length: 64 }, (_, index) => index + 10),
  )
  assert.equal(quick.length, 74)
})

interface Sized {
  readonly number: number
  readonly bytes: number
}

/** Returns the numbers of the frames that wait for a subscriber that reads nothing while frames of these sizes are published. */
function waitingOf(sizes: readonly number[]): number[] {
  const bus = new EventBus<Sized>()
  const stalled = bus.subscribe(
    () => undefined,
    ({ bytes }) => bytes,
  )
  sizes.forEach((bytes, number) => bus.publish({ number, bytes }))
  const numbers: number[] = []
  for (let frame = stalled.take(); frame !== undefined; frame = stalled.take()) numbers.push(frame.number)
  return numbers
}

test('a queue is bounded in bytes as well: as many of the oldest frames as necessary are dropped', () => {
  const half = QUEUE_BYTES / 2
  assert.deepEqual(waitingOf([half, half]), [0, 1], 'exactly full')
  assert.deepEqual(waitingOf([half, half, 1]), [1, 2])
  assert.deepEqual(waitingOf([1, 1, half, half]), [2, 3])
  assert.deepEqual(waitingOf([half, 1, 1, 1, QUEUE_BYTES - 2]), [2, 3, 4])
})

test('a frame that is larger than the whole queue waits alone, and is dropped for the next one', () => {
  assert.deepEqual(waitingOf([1, 1, QUEUE_BYTES * 8]), [2])
  assert.deepEqual(waitingOf([1, QUEUE_BYTES * 8, 1]), [2])
})

test('frames that were taken release their bytes', () => {
  const bus = new EventBus<Sized>()
  const subscription = bus.subscribe(
    () => undefined,
    ({ bytes }) => bytes,
  )
  for (let number = 0; number < 100; number += 1) {
    bus.publish({ number, bytes: QUEUE_BYTES })
    assert.equal(subscription.take()?.number, number)
  }
  bus.publish({ number: 100, bytes: QUEUE_BYTES - 1 })
  bus.publish({ number: 101, bytes: 1 })
  assert.equal(subscription.take()?.number, 100)
})

test('an ended subscription gets no further frame, but waiting frames can still be taken', () => {
  const bus = new EventBus()
  let woken = 0
  const subscription = bus.subscribe(() => woken++)
  bus.publish(numbered(1))
  subscription.close()
  subscription.close()
  bus.publish(numbered(2))
  assert.equal(woken, 2, 'once for the frame, once for the end')
  assert.ok(subscription.closed)
  assert.deepEqual(takeAll(subscription), [1])
})

test('closing the bus ends every subscription; later ones end at once, and publishing does nothing', async () => {
  const bus = new EventBus()
  const subscription = bus.subscribe(() => undefined)
  bus.close()
  assert.ok(subscription.closed)
  bus.publish(numbered(1))
  assert.deepEqual(takeAll(subscription), [])
  await new Promise<void>((resolve) => {
    const late = bus.subscribe(() => {
      assert.ok(late.closed)
      resolve()
    })
  })
})

import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { BodyMemory, SMALL_BODY, type BodyReservation } from './body-memory.ts'

const UNIT = SMALL_BODY * 2

/** Asks for memory, and notes in `notified` when it is available. */
function ask(reservation: BodyReservation, units: number, notified: string[], name = ''): boolean {
  return reservation.has(units * UNIT, () => notified.push(name))
}

test('bodies reservation the memory, and a body that exceeds it is notified when there is some', () => {
  const memory = new BodyMemory(4 * UNIT)
  const [first, second, third] = [memory.reserve(), memory.reserve(), memory.reserve()]
  const notified: string[] = []
  assert.ok(ask(first, 2, notified))
  assert.ok(ask(second, 2, notified))
  assert.ok(!ask(third, 1, notified, 'third'))
  assert.ok(!ask(second, 3, notified, 'second'))
  assert.deepEqual(notified, [])
  first.release()
  assert.deepEqual(notified, ['second', 'third'])
  assert.equal(second.size, 3 * UNIT)
})

test('the oldest never waits, so that one always completes', () => {
  const memory = new BodyMemory(2 * UNIT)
  const [first, second] = [memory.reserve(), memory.reserve()]
  const notified: string[] = []
  assert.ok(ask(first, 1, notified))
  assert.ok(ask(second, 1, notified))
  assert.ok(!ask(second, 2, notified, 'second'))
  assert.ok(ask(first, 100, notified))
  first.release()
  assert.deepEqual(notified, ['second'])
  assert.ok(ask(second, 100, notified))
})

test('small bodies are not counted', () => {
  const memory = new BodyMemory(UNIT)
  memory.reserve().has(UNIT, () => undefined)
  for (let count = 0; count < 100; count++) assert.ok(memory.reserve().has(SMALL_BODY, () => undefined))
})

test('a second request replaces the first, and gets all of it once memory is released', async () => {
  const memory = new BodyMemory(UNIT)
  const [first, second] = [memory.reserve(), memory.reserve()]
  const notified: string[] = []
  assert.ok(ask(first, 1, notified))
  assert.ok(!ask(second, 1, notified, 'once'))
  assert.ok(!ask(second, 2, notified, 'twice'))
  second.release()
  second.release()
  assert.deepEqual(notified, ['twice'])
  assert.ok(ask(second, 9, notified))
  const third = memory.reserve()
  const waited = third.wait(UNIT, new AbortController().signal)
  first.release()
  await waited
  assert.equal(third.size, UNIT)
})

test('released memory is available to others', () => {
  const memory = new BodyMemory(4 * UNIT)
  const [first, second] = [memory.reserve(), memory.reserve()]
  const notified: string[] = []
  assert.ok(ask(first, 9, notified))
  assert.ok(!ask(second, 2, notified, 'second'))
  first.shrinkTo(3 * UNIT)
  assert.deepEqual(notified, [])
  first.shrinkTo(2 * UNIT)
  first.shrinkTo(3 * UNIT)
  assert.deepEqual(notified, ['second'])
  assert.deepEqual([first.size, second.size], [2 * UNIT, 2 * UNIT])
  second.release()
  second.shrinkTo(0)
  const third = memory.reserve()
  assert.ok(ask(third, 2, notified))
  assert.ok(!ask(third, 3, notified))
})

test('a wait ends with its signal, leaves no listener, and is notified no more', async () => {
  const memory = new BodyMemory(UNIT)
  const [first, second] = [memory.reserve(), memory.reserve()]
  assert.ok(ask(first, 1, []))
  const controller = new AbortController()
  const { signal } = controller
  const waited = second.wait(UNIT, signal)
  controller.abort(new Error('stopping'))
  await assert.rejects(waited, /stopping/)
  await assert.rejects(second.wait(UNIT, signal), /stopping/)
  assert.deepEqual(getEventListeners(signal, 'abort'), [])
  first.release()
  assert.equal(second.size, 0)
})

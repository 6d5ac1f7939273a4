import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { BodyRoom, SMALL_BODY, type BodyShare } from './body-memory.ts'

const UNIT = SMALL_BODY * 2

/** Asks for memory, and notes in `told` when it is available. */
function ask(share: BodyShare, units: number, told: string[], name = ''): boolean {
  return share.has(units * UNIT, () => told.push(name))
}

test('bodies share the memory, and a body that exceeds it is notified when there is some', () => {
  const room = new BodyRoom(4 * UNIT)
  const [first, second, third] = [room.share(), room.share(), room.share()]
  const told: string[] = []
  assert.ok(ask(first, 2, told))
  assert.ok(ask(second, 2, told))
  assert.ok(!ask(third, 1, told, 'third'))
  assert.ok(!ask(second, 3, told, 'second'))
  assert.deepEqual(told, [])
  first.giveBack()
  assert.deepEqual(told, ['second', 'third'])
  assert.equal(second.size, 3 * UNIT)
})

test('the oldest never waits, so that one always completes', () => {
  const room = new BodyRoom(2 * UNIT)
  const [first, second] = [room.share(), room.share()]
  const told: string[] = []
  assert.ok(ask(first, 1, told))
  assert.ok(ask(second, 1, told))
  assert.ok(!ask(second, 2, told, 'second'))
  assert.ok(ask(first, 100, told))
  first.giveBack()
  assert.deepEqual(told, ['second'])
  assert.ok(ask(second, 100, told))
})

test('small bodies are not counted', () => {
  const room = new BodyRoom(UNIT)
  room.share().has(UNIT, () => undefined)
  for (let count = 0; count < 100; count++) assert.ok(room.share().has(SMALL_BODY, () => undefined))
})

test('a second request replaces the first, and gets all of it once memory is released', async () => {
  const room = new BodyRoom(UNIT)
  const [first, second] = [room.share(), room.share()]
  const told: string[] = []
  assert.ok(ask(first, 1, told))
  assert.ok(!ask(second, 1, told, 'once'))
  assert.ok(!ask(second, 2, told, 'twice'))
  second.giveBack()
  second.giveBack()
  assert.deepEqual(told, ['twice'])
  assert.ok(ask(second, 9, told))
  const third = room.share()
  const waited = third.wait(UNIT, new AbortController().signal)
  first.giveBack()
  await waited
  assert.equal(third.size, UNIT)
})

test('released memory is available to others', () => {
  const room = new BodyRoom(4 * UNIT)
  const [first, second] = [room.share(), room.share()]
  const told: string[] = []
  assert.ok(ask(first, 9, told))
  assert.ok(!ask(second, 2, told, 'second'))
  first.shrinkTo(3 * UNIT)
  assert.deepEqual(told, [])
  first.shrinkTo(2 * UNIT)
  first.shrinkTo(3 * UNIT)
  assert.deepEqual(told, ['second'])
  assert.deepEqual([first.size, second.size], [2 * UNIT, 2 * UNIT])
  second.giveBack()
  second.shrinkTo(0)
  const third = room.share()
  assert.ok(ask(third, 2, told))
  assert.ok(!ask(third, 3, told))
})

test('a wait ends with its signal, leaves no listener, and is notified no more', async () => {
  const room = new BodyRoom(UNIT)
  const [first, second] = [room.share(), room.share()]
  assert.ok(ask(first, 1, []))
  const controller = new AbortController()
  const { signal } = controller
  const waited = second.wait(UNIT, signal)
  controller.abort(new Error('stopping'))
  await assert.rejects(waited, /stopping/)
  await assert.rejects(second.wait(UNIT, signal), /stopping/)
  assert.deepEqual(getEventListeners(signal, 'abort'), [])
  first.giveBack()
  assert.equal(second.size, 0)
})

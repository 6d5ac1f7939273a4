import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseClock } from '../database/database-clock.ts'
import { HostSlots } from './host-slots.ts'

const RATE = { spacingMs: 20, playMs: 10_000 }

/** Returns slots far from their end, as a database with another clock would. */
function give(slots: HostSlots, count: number): void {
  const asked = performance.now()
  const now = asked + 5000
  slots.add({ last: now + (count - 1) * RATE.spacingMs, now }, { ...RATE, count }, asked)
}

test('without a rate no call waits, and no slots are requested', () => {
  const slots = new HostSlots()
  assert.equal(slots.wait(performance.now()), 0)
  assert.equal(slots.lacking(5), null)
  assert.equal(slots.take()(), false)
})

test('few slots are requested at first, and more as they are used; never more than calls wait', () => {
  const slots = new HostSlots()
  slots.setRate(RATE)
  assert.equal(slots.wait(performance.now()), Infinity)
  const counts = new Set<number>()
  for (let used = 0; used < 500; used += 1) {
    const count = slots.lacking(100)?.count ?? 0
    if (count > 0) {
      counts.add(count)
      give(slots, count)
    }
    assert.equal(slots.take()(), false)
  }
  assert.deepEqual([...counts], [1, 2, 4, 8, 10])
  while (slots.count > 0) slots.take()
  assert.equal(slots.lacking(3)?.count, 3)
  assert.equal(slots.lacking(0), null)
})

test('a slot expires after its tolerance', () => {
  const slots = new HostSlots()
  slots.setRate({ spacingMs: 20, playMs: 1 })
  const asked = performance.now()
  for (const ago of [100, 80]) {
    const now = asked + ago
    slots.add({ last: now - ago, now }, { spacingMs: 20, playMs: 1, count: 1 }, asked)
  }
  assert.equal(slots.count, 0)
  assert.equal(slots.wait(performance.now()), Infinity)
})

test('slots of another rate are not used', () => {
  const slots = new HostSlots()
  slots.setRate(RATE)
  give(slots, 1)
  slots.setRate({ spacingMs: 50, playMs: 10_000 })
  assert.equal(slots.count, 0)
  give(slots, 1)
  assert.equal(slots.count, 0)
})

test('the clock of the database is known as exactly as the fastest response allows', () => {
  const clock = new DatabaseClock()
  clock.note(1_000_000, 0, 100)
  assert.equal(clock.here(1_000_000), 50)
  clock.note(1_000_201, 200, 202)
  assert.ok(Math.abs(clock.here(1_000_201) - 201) <= 1.1)
  clock.note(1_000_300, 260, 400)
  assert.ok(Math.abs(clock.here(1_000_300) - 300) <= 1.2)
})

test("a change of the database's clock is detected with the next response", () => {
  const clock = new DatabaseClock()
  clock.note(1_000_000, 0, 2)
  clock.note(2_000_000, 1000, 1002)
  assert.equal(clock.here(2_000_000), 1001)
})

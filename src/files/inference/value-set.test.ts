import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ByteBudget, ValueSet } from './value-set.ts'

test('a set recognizes each of a hundred thousand texts, and no other', () => {
  const set = new ValueSet(new ByteBudget(64 << 20))
  for (let index = 0; index < 100_000; index += 1) assert.equal(set.add(`value ${index}`), 'new')
  for (let index = 0; index < 100_000; index += 1) assert.equal(set.add(`value ${index}`), 'known')
  assert.equal(set.size, 100_000)
})

test('sets stop at the end of their budget, and released budget is available to others', () => {
  const budget = new ByteBudget(4096)
  const [one, other] = [new ValueSet(budget), new ValueSet(budget)]
  const fill = (set: ValueSet): number => {
    for (let index = 0; ; index += 1) if (set.add(String(index)) === 'full') return index
  }
  const full = fill(one)
  assert.ok(full > 100 && full < 512, String(full))
  const less = fill(other)
  assert.ok(less < full)
  one.release()
  assert.ok(fill(other) > less)
})

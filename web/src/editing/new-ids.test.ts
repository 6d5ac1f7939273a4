import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextIds, randomIds } from './new-ids.ts'

test('ids continue the number of the last one, with its prefix and digits', () => {
  assert.deepEqual(nextIds('17', 2), ['18', '19'])
  assert.deepEqual(nextIds('R-0099', 2), ['R-0100', 'R-0101'])
  assert.deepEqual(nextIds('row9', 1), ['row10'])
})

test('ids without a plain number have no next one', () => {
  for (const id of ['DE', '3f2a9c44-11aa-4b0c-9d7e-0a1b2c3d4e5f', 'a1b2', '', '12345678901234567890']) {
    assert.equal(nextIds(id, 1), null, id)
  }
})

test('random ids differ', () => {
  const ids = randomIds(1000)
  assert.equal(new Set(ids).size, 1000)
  for (const id of ids) assert.match(id, /^[a-z0-9]{12}$/)
})

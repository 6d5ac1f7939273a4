import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commaList } from './comma-list.ts'

test('D12: items of a list are trimmed, repeats count once, and the order stays', () => {
  assert.deepEqual(commaList(' b ,a,b, a b '), ['b', 'a', 'a b'])
})

test('D12: a parameter that is absent or has no item is absent', () => {
  for (const text of [undefined, '', '  ', ',', ' , ,']) assert.equal(commaList(text), null)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rangeMessage } from './range-message.ts'

const FORMAT = { money: (dollars: number) => `$${dollars}`, calls: (count: number) => `${count} calls` }

test('the range of a plan is a sentence, with what is expected once that is known', () => {
  const least = { calls: 12, cost: 0.12 }
  assert.equal(rangeMessage({ calls: 24 }, FORMAT), null)
  assert.equal(rangeMessage({ calls: 24, range: { least } }, FORMAT), 'At least 12 calls, $0.12.')
  const expected = { calls: 21, cost: 0.21, results: 1049 }
  assert.equal(
    rangeMessage({ calls: 24, range: { least: { calls: 12, cost: 0 }, expected } }, FORMAT),
    'At least 12 calls; about 21 calls, $0.21 by 1,049 results of fallbacks so far.',
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retryMessage } from './retry-message.ts'

test('a plan has the number of failed cells that are not tried again yet, and the time of the first', () => {
  const cells = { compute: 0, cached: 0, skipped: 9 }
  const [early, late] = ['2026-11-27T12:00:00.000Z', '2026-11-28T12:00:00.000Z']
  const words = (...later: readonly { cells: number; next: string | null }[]): string | null =>
    retryMessage({
      targets: Object.fromEntries(later.map((each, index) => [index, { ...cells, retry_later: each }])),
    })
  assert.equal(retryMessage({ targets: { a: cells } }), null)
  const both = words({ cells: 2, next: late }, { cells: 1, next: early })
  assert.equal(both, `3 failed cells are not retried yet, the first on ${early}.`)
  const never = words({ cells: 1, next: null })
  assert.equal(never, '1 failed cell is not retried (retry_failed_after).')
})

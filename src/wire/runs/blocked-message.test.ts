import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blockedMessage } from './blocked-message.ts'

test('blocked cells are reported with the reasons', () => {
  assert.equal(blockedMessage({ targets: { a: { compute: 3, cached: 1, skipped: 2 } } }), null)
  const blocked = {
    a: { compute: 0, cached: 0, skipped: 1500, blocked: { input_failed: 1200, input_empty: 1 } },
    b: { compute: 0, cached: 0, skipped: 9, blocked: { input_failed: 2 } },
  }
  assert.equal(
    blockedMessage({ targets: blocked }),
    '1,203 cells are blocked: 1,202 by a failed input, 1 by an empty input.',
  )
})

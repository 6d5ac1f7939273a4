import assert from 'node:assert/strict'
import test from 'node:test'
import { countsText, headline, sumCounts, type StatusCounts } from './status-text.ts'

/** Counts of a target of 10 records, of which only missing cells are blocked. */
function counts(some: Partial<StatusCounts>): StatusCounts {
  const all = {
    stale: 0,
    missing: 0,
    failed: 0,
    blocked: 0,
    fresh: 0,
    overridden: 0,
    total_records: 10,
    ...some,
  }
  const { stale, missing, failed, blocked } = all
  return { ready: { missing: missing - blocked, stale, failed }, ...all }
}

test('counts as text leave out zeros', () => {
  assert.equal(countsText(counts({ total_records: 1240, fresh: 1238, failed: 2 })), '1,238 fresh, 2 failed')
  assert.equal(countsText(counts({ total_records: 0 })), 'no records')
  assert.equal(countsText(counts({ fresh: 8, missing: 2, blocked: 1 })), '8 fresh, 2 missing (1 blocked)')
})

test('the headline is the state that most needs attention', () => {
  assert.equal(headline(counts({ fresh: 10 })), 'all fresh')
  assert.equal(headline(counts({ missing: 10 })), 'all missing')
  assert.equal(headline(counts({ fresh: 4, stale: 5, failed: 1 })), '1 failed')
  assert.equal(headline(counts({ fresh: 4, stale: 4, missing: 2 })), '4 stale')
  assert.equal(headline(counts({ fresh: 9, overridden: 1 })), '1 overridden')
  assert.equal(headline(counts({ total_records: 0 })), 'no records')
})

test('a target whose other cells have an empty input is complete', () => {
  assert.equal(headline(counts({ fresh: 8, missing: 2, blocked: 2 })), 'complete')
  assert.equal(headline(counts({ fresh: 7, overridden: 1, missing: 2, blocked: 2 })), '1 overridden')
  assert.equal(headline(counts({ fresh: 8, missing: 2, blocked: 1 })), '1 missing')
  const ready = { missing: 0, stale: 0, failed: 0 }
  assert.equal(headline(counts({ fresh: 7, failed: 3, blocked: 3, ready })), 'complete')
  assert.equal(headline(counts({ missing: 10, blocked: 10 })), 'all missing')
})

test('counts of several targets are added', () => {
  const sum = sumCounts([counts({ fresh: 10 }), counts({ fresh: 3, failed: 7 })])
  assert.deepEqual(sum, { ...counts({ fresh: 13, failed: 7 }), total_records: 20 })
})

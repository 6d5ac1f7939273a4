import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exactTime, relativeTime } from './time-text.ts'

const NOW = Date.parse('2026-03-10T12:00:00.000Z')
const ago = (seconds: number): string => relativeTime(new Date(NOW - seconds * 1000).toISOString(), NOW)

test('recent times are relative to now, and dates after a week', () => {
  assert.equal(ago(0), 'just now')
  assert.equal(ago(9.9), 'just now')
  assert.equal(ago(10), '10 seconds ago')
  assert.equal(ago(59.9), '59 seconds ago')
  assert.equal(ago(60), '1 minute ago')
  assert.equal(ago(3599), '59 minutes ago')
  assert.equal(ago(3600), '1 hour ago')
  assert.equal(ago(86_400), 'yesterday')
  assert.equal(ago(6.9 * 86_400), '6 days ago')
  assert.match(ago(7 * 86_400), /^on \d+ Mar 2026$/)
})

test('a clock that is slightly ahead counts as now, and a far future is shown as a date', () => {
  assert.equal(ago(-30), 'just now')
  assert.match(ago(-5 * 86_400), /^on \d+ Mar 2026$/)
})

test('the exact time has UTC to the millisecond, and an invalid time is unchanged', () => {
  assert.match(exactTime('2026-03-10T12:00:00.250Z'), /\n2026-03-10 12:00:00\.250 UTC$/)
  assert.equal(exactTime('soon'), 'soon')
  assert.equal(relativeTime('soon', NOW), 'soon')
})

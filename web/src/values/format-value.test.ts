import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatUtc, formatValue } from './format-value.ts'

test('numbers keep every digit', () => {
  assert.equal(formatValue('number', 1234567.125), '1,234,567.125')
  assert.equal(formatValue('number', -0.5), '-0.5')
  assert.equal(formatValue('integer', 9007199254740991), '9,007,199,254,740,991')
  assert.equal(formatValue('number', 0.1 + 0.2), '0.30000000000000004')
  assert.equal(formatValue('number', 1e21), '1e+21')
  assert.equal(formatValue('number', 1e-7), '1e-7')
})

test('a format sets decimals and grouping', () => {
  assert.equal(formatValue('number', 1234.5, { decimals: 2 }), '1,234.50')
  assert.equal(formatValue('number', -1234.567, { decimals: 0 }), '-1,235')
  assert.equal(formatValue('integer', 2024, { grouping: false }), '2024')
  assert.equal(formatValue('number', 1234567.891, { decimals: 1, grouping: false }), '1234567.9')
  assert.equal(formatValue('number', 1e21, { decimals: 2 }), '1e+21')
})

test('a format shows timestamps in UTC', () => {
  assert.equal(formatValue('timestamp', '2026-03-01T12:00:00+02:00', { utc: true }), '2026-03-01 10:00:00')
  assert.equal(formatValue('timestamp', '2026-03-01T10:00:00.5Z', { utc: true }), '2026-03-01 10:00:00.500')
})

test('no value is shown as an empty text, and an empty text too', () => {
  assert.equal(formatValue('string', null), '')
  assert.equal(formatValue('string', ''), '')
})

test('lists are comma-separated unless they hold structures', () => {
  assert.equal(formatValue('array', ['a', 1, true]), 'a, 1, true')
  assert.equal(formatValue('array', [{ a: 1 }]), '[{"a":1}]')
  assert.equal(formatValue('array', []), '')
  assert.equal(formatValue('object', { a: [1] }), '{"a":[1]}')
})

test('timestamps are shown in local time, and in UTC', () => {
  const local = formatValue('timestamp', '2026-03-01T12:00:00+02:00')
  assert.match(local, /^2026-03-01 \d\d:\d\d:00$|^2026-02-28 |^2026-03-02 /)
  assert.equal(formatUtc('2026-03-01T12:00:00+02:00'), '2026-03-01 10:00:00.000 UTC')
  assert.equal(formatValue('timestamp', 'no time'), 'no time')
})

test('a text is shown unchanged, whatever it looks like', () => {
  assert.equal(formatValue('string', '2026-03-01T12:00:00Z'), '2026-03-01T12:00:00Z')
  assert.equal(formatValue(null, '12'), '12')
})

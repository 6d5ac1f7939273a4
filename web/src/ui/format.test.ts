import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countOf, formatCount, formatDuration, formatMoney, formatRate, formatTimeLeft } from './format.ts'

function check<T>(format: (value: T) => string, cases: readonly (readonly [T, string])[]): void {
  for (const [value, text] of cases) assert.equal(format(value), text, String(value))
}

test('counts have digit groups, and one is singular', () => {
  check(formatCount, [
    [0, '0'],
    [1398, '1,398'],
    [1_000_000, '1,000,000'],
  ])
  assert.equal(countOf(1, 'call'), '1 call')
  assert.equal(countOf(0, 'call'), '0 calls')
  assert.equal(countOf(2, 'entry', 'entries'), '2 entries')
})

test('small amounts of money have two significant digits', () => {
  check(formatMoney, [
    [0, '$0'],
    [0.000_000_1, '< $0.000001'],
    [0.0001, '$0.0001'],
    [0.000_12, '$0.00012'],
    [0.0035, '$0.0035'],
    [0.003_549, '$0.0035'],
    [0.0099, '$0.0099'],
    [0.009_99, '$0.01'],
    [0.01, '$0.01'],
    [0.016, '$0.016'],
    [0.1, '$0.10'],
    [0.1398, '$0.14'],
    [0.1 + 0.2, '$0.30'],
    [0.996, '$1.00'],
    [1, '$1.00'],
    [12.5, '$12.50'],
    [999.999, '$1,000'],
    [1250.4, '$1,250'],
    [-0.5, '−$0.50'],
  ])
})

test('durations are never rounded up to sixty of the smaller unit', () => {
  check(formatDuration, [
    [0, '0 ms'],
    [-5, '0 ms'],
    [340.4, '340 ms'],
    [1000, '1 s'],
    [3240, '3.2 s'],
    [9960, '10 s'],
    [42_400, '42 s'],
    [59_700, '1 min'],
    [119_600, '2 min'],
    [200_000, '3 min 20 s'],
    [3_599_700, '1 h'],
    [7_500_000, '2 h 5 min'],
    [86_399_000, '1 d'],
    [273_600_000, '3 d 4 h'],
  ])
})

test('slow rates are shown for each minute', () => {
  assert.equal(formatRate(1234.5, 'cells'), '1,235 cells/s')
  assert.equal(formatRate(4.24, 'cells'), '4.2 cells/s')
  assert.equal(formatRate(9.96, 'cells'), '10 cells/s')
  assert.equal(formatRate(0.2, 'cells'), '12 cells/min')
  assert.equal(formatRate(0, 'cells'), '0 cells/min')
})

test('the precision of the remaining time decreases with its length', () => {
  check(formatTimeLeft, [
    [0.5, '< 5 s'],
    [4.1, '5 s'],
    [23, '25 s'],
    [58, '1 min'],
    [200, '3 min'],
    [3590, '1 h'],
    [7800, '2 h 10 min'],
  ])
})

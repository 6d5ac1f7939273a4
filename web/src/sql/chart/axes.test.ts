import assert from 'node:assert/strict'
import test from 'node:test'
import { numberAxis, tickLabel } from './number-axis.ts'
import { timeOf, timeTicks } from './time-axis.ts'

test('axes of numbers begin at zero and end at a round number', () => {
  assert.deepEqual(numberAxis([3, 59], 5).ticks, [0, 20, 40, 60])
  assert.deepEqual(numberAxis([-7, 12], 4), { from: -10, to: 15, ticks: [-10, -5, 0, 5, 10, 15] })
  assert.deepEqual(numberAxis([0.1, 0.3], 3).ticks, [0, 0.1, 0.2, 0.3])
})

test('axes without values, for zero, and for one value have a length', () => {
  for (const values of [[], [0], [-0]]) assert.deepEqual(numberAxis(values, 4).to, 1)
  const { from, to } = numberAxis([1e9], 4, false)
  assert.ok(from <= 1e9 && to > 1e9)
})

test('big numbers are short', () => {
  assert.equal(tickLabel(17_500_000), '17.5M')
  assert.equal(tickLabel(0), '0')
  assert.equal(tickLabel(1e21), '1.0e+21')
})

test('years, months, days and moments are times', () => {
  assert.equal(timeOf('2026'), Date.UTC(2026, 0, 1))
  assert.equal(timeOf('2026-03'), Date.UTC(2026, 2, 1))
  assert.equal(timeOf('2026-03-04'), Date.UTC(2026, 2, 4))
  assert.equal(timeOf('2026-03-04 05:06:07'), Date.UTC(2026, 2, 4, 5, 6, 7))
  assert.equal(timeOf('2026-03-04T05:06:00+02:00'), Date.UTC(2026, 2, 4, 3, 6))
})

test('other texts are not times', () => {
  for (const value of ['', 'Asia', '12', '20265', '2026-13', '2026-03-04Z', '10:30', 2026, null]) {
    assert.equal(timeOf(value), null, String(value))
  }
})

test('ticks of time are at round positions, and not too many', () => {
  const labels = (from: string, to: string): string[] =>
    timeTicks(Date.parse(from), Date.parse(to), 6).map(({ label }) => label)
  assert.deepEqual(labels('2026-01-15', '2026-04-20'), ['Feb 2026', 'Mar 2026', 'Apr 2026'])
  assert.deepEqual(labels('2019-05-01', '2024-05-01'), ['2020', '2021', '2022', '2023', '2024'])
  assert.deepEqual(labels('2026-01-01', '2026-01-06'), ['1 Jan', '2 Jan', '3 Jan', '4 Jan', '5 Jan', '6 Jan'])
  assert.ok(labels('1026-01-01', '2026-01-01').length <= 6)
  assert.ok(labels('2026-01-01T10:00Z', '2026-01-01T10:03Z').includes('10:02'))
})

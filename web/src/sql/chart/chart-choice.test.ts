import assert from 'node:assert/strict'
import test from 'node:test'
import { chooseChart, describeChart, type Chart } from './chart-choice.ts'
import { columnsOf, type ResultRow } from '../table/result-columns.ts'
import { CONTRACT } from '../test-contract.ts'

const chartOf = (rows: readonly ResultRow[]): Chart | null =>
  chooseChart(columnsOf(Object.keys(rows[0] ?? {}), rows, CONTRACT), rows)

test('a number by a category makes bars, in the order of the result', () => {
  const chart = chartOf([
    { state: 'worn', n: 2 },
    { state: null, n: 5 },
    { state: 'new', n: null },
  ])
  assert.deepEqual(chart, {
    kind: 'bars',
    category: 'state',
    number: 'n',
    bars: [
      { label: 'worn', value: 2 },
      { label: 'no value', value: 5 },
      { label: 'new', value: null },
    ],
  })
})

test('the order of the columns does not matter, and booleans are categories', () => {
  assert.equal(chartOf([{ n: 2, lent: true }])?.kind, 'bars')
})

test('a number by time makes a line, from the earliest on', () => {
  const chart = chartOf([
    { month: '2026-02', n: 3 },
    { month: null, n: 9 },
    { month: '2026-01', n: 1 },
    { month: '2026-03', n: null },
  ])
  assert.equal(chart?.kind, 'line')
  assert.deepEqual(chart?.kind === 'line' && chart.points.map(({ label, value }) => [label, value]), [
    ['2026-01', 1],
    ['2026-02', 3],
  ])
})

test('a field of type string is not a time', () => {
  assert.equal(
    chartOf([
      { title: '1984', n: 3 },
      { title: '2001', n: 4 },
    ])?.kind,
    'bars',
  )
})

test('a single time makes a bar', () => {
  assert.equal(chartOf([{ bought: '2026-02-01', n: 3 }])?.kind, 'bars')
})

test('other results have no chart', () => {
  assert.equal(chartOf([]), null)
  assert.equal(chartOf([{ n: 1 }]), null)
  assert.equal(chartOf([{ state: 'new' }]), null)
  assert.equal(chartOf([{ state: 'new', a: 1, b: 2 }]), null)
  assert.equal(chartOf([{ state: 'new', title: 'x', n: 2 }]), null)
  assert.equal(chartOf([{ languages: ['en'], n: 2 }]), null)
  assert.equal(chartOf(Array.from({ length: 51 }, (_, n) => ({ title: `${n}th`, n }))), null)
})

test('a chart has a text description', () => {
  const bars = chartOf([
    { state: 'new', n: 1000 },
    { state: 'worn', n: 2 },
  ])
  assert.equal(bars && describeChart(bars), 'Bars: n by state, from 2 (worn) to 1,000 (new)')
  const line = chartOf([
    { month: '2026-02', n: 3 },
    { month: '2026-01', n: 1 },
  ])
  assert.equal(line && describeChart(line), 'Line: n by month, 2 points, from 1 (2026-01) to 3 (2026-02)')
})

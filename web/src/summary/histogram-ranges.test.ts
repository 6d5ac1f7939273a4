import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { histogramRanges } from './histogram-ranges.ts'

suite('the ranges of a histogram', () => {
  const values = (...given: Parameters<typeof histogramRanges>) =>
    histogramRanges(...given).map(({ condition: { is, value } }) => [is, value])

  test('of whole numbers and days include both ends', () => {
    assert.deepEqual(values('integer', { from: 0, to: 100, step: 40, counts: [1, 2, 3] }), [
      ['between', [0, 39]],
      ['between', [40, 79]],
      ['between', [80, 100]],
    ])
    assert.deepEqual(values('integer', { from: 3, to: 4, step: 1, counts: [1, 2] }), [
      ['equals', 3],
      ['equals', 4],
    ])
    assert.deepEqual(values('date', { from: '2024-02-28', to: '2024-03-03', step: 2, counts: [1, 2, 1] }), [
      ['between', ['2024-02-28', '2024-02-29']],
      ['between', ['2024-03-01', '2024-03-02']],
      ['equals', '2024-03-03'],
    ])
  })

  test('of other numbers include the greatest value only in the last range', () => {
    assert.deepEqual(values('number', { from: 0, to: 10, step: 5, counts: [1, 1] }), [
      ['within', [0, 5]],
      ['between', [5, 10]],
    ])
    assert.deepEqual(values('number', { from: 2.5, to: 2.5, step: 1, counts: [2] }), [['equals', 2.5]])
  })

  test('match the numbers that the server counts in them, despite rounding', () => {
    for (const [from, to] of [
      [0, 1],
      [-0.7, 0.1],
      [0.44, 17098242],
      [1e-9, 3e-9],
      [-1e300, 7e299],
      [1e15 + 0.5, 1e15 + 7],
    ] as const) {
      const step = (to - from) / 20
      const ranges = histogramRanges('number', { from, to, step, counts: Array<number>(20).fill(1) })
      // At the edges and beside them.
      for (let tick = 0; tick <= 400; tick += 1) {
        const value = Math.min(to, from + (tick / 20) * step)
        const counted = Math.min(Math.trunc((value - from) / step), 19)
        const found = ranges.findIndex(({ condition }) => {
          const [first = 0, last = 0] = condition.value as readonly number[]
          return value >= first && (condition.is === 'within' ? value < last : value <= last)
        })
        assert.equal(found, counted, `${value} from ${from} to ${to}`)
      }
    }
  })

  test('of timestamps are exact to the millisecond, and include the last one', () => {
    const ranges = values('timestamp', {
      from: '2024-03-10T10:00:00.000Z',
      to: '2024-03-10T10:00:00.010Z',
      step: 0.0025,
      counts: [1, 1, 1, 1],
    })
    assert.deepEqual(ranges, [
      ['during', ['2024-03-10T10:00:00.000Z', '2024-03-10T10:00:00.003Z']],
      ['during', ['2024-03-10T10:00:00.003Z', '2024-03-10T10:00:00.005Z']],
      ['during', ['2024-03-10T10:00:00.005Z', '2024-03-10T10:00:00.008Z']],
      ['during', ['2024-03-10T10:00:00.008Z', '2024-03-10T10:00:00.011Z']],
    ])
  })
})

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { FieldSummaryAnswer } from '../../../src/wire/records/summary.ts'
import type { FieldType, SheetField } from '../api/contract.ts'
import { testField } from '../api/test-field.ts'
import { summaryChartOf } from './summary-chart.ts'
import { exactPlace, percent, shortEnds } from './summary-text.ts'

suite('the chart of a column', () => {
  const draw = (field: Partial<SheetField>, count: number, summary: FieldSummaryAnswer) =>
    summaryChartOf(testField({ name: 'f', title: 'F', ...field }), { count, summary, took: 1 })

  test('of texts has a part for each frequent value, the others and the empty ones, which add up to all', () => {
    const chart = draw({}, 100, {
      nulls: 10,
      distinct: 30,
      top: [
        { value: 'a', count: 50 },
        { value: "b'c", count: 20 },
      ],
    })
    assert.equal(chart?.kind, 'segments')
    assert.deepEqual(
      chart?.parts.map(({ look, size, label, condition }) => [
        look,
        size,
        label,
        condition?.is,
        condition?.value,
      ]),
      [
        ['value', 0.5, 'a', 'anyOf', ['a']],
        ['value', 0.2, "b'c", 'anyOf', ["b'c"]],
        ['others', 0.2, '28 other values', 'noneOf', ['a', "b'c", null]],
        ['empty', 0.1, 'Empty', 'empty', null],
      ],
    )
    assert.equal(chart?.name, 'F: 30 values, most often a, 50%, 10% empty')
  })

  test('of a constant column filters nothing', () => {
    const one = draw({}, 5, { nulls: 0, distinct: 1, top: [{ value: 'a', count: 5 }] })
    assert.deepEqual(
      one?.parts.map(({ condition }) => condition),
      [null],
    )
    const number = draw({ type: 'number' }, 5, {
      nulls: 0,
      histogram: { from: 2, to: 2, step: 1, counts: [5] },
    })
    assert.deepEqual(
      number?.parts.map(({ condition, label }) => [condition, label]),
      [[null, '2']],
    )
    assert.equal(number?.name, 'F: all 2')
    const half = draw({ type: 'integer' }, 4, {
      nulls: 2,
      histogram: { from: 2, to: 2, step: 1, counts: [2] },
    })
    assert.deepEqual(
      half?.parts.map(({ size, condition }) => [size, condition?.is]),
      [
        [0.5, 'equals'],
        [0.5, 'empty'],
      ],
    )
  })

  test('has a text if nothing can be drawn', () => {
    const text = (...given: Parameters<typeof draw>) => draw(...given)?.left
    assert.equal(text({}, 4, { nulls: 4 }), 'All empty')
    assert.equal(draw({}, 4, { nulls: 4 })?.empty?.condition, null)
    assert.equal(text({ primaryKey: true, unique: true }, 40, { nulls: 0, distinct: 40 }), 'Unique')
    const ten = Array.from({ length: 10 }, (_, index) => ({ value: `v${index}`, count: 1 }))
    assert.equal(text({}, 40, { nulls: 0, distinct: 40, top: ten }), 'All different')
    assert.equal(text({ type: 'object' }, 4, { nulls: 1 }), '75% filled')
    assert.equal(text({ type: 'array' }, 4, { nulls: 0, distinct: 0, top: [] }), 'No items')
    assert.equal(text({}, 4, { nulls: 0, distinct: 2, top: [] }), '2 long texts')
    // Greater than any number can tell: no histogram.
    assert.equal(text({ type: 'number' }, 4, { nulls: 0 }), 'All filled')
    assert.equal(draw({}, 0, { nulls: 0 }), null)
  })

  test('of arrays has bars, since items are not parts of a whole; nested arrays filter nothing', () => {
    const chart = draw({ type: 'array' }, 3, {
      nulls: 0,
      distinct: 12,
      top: [
        { value: 'a', count: 4 },
        { value: { k: 1 }, count: 1 },
      ],
    })
    assert.deepEqual(
      chart?.parts.map(({ size, label, condition }) => [size, label, condition?.is]),
      [
        [1, 'a', 'hasAny'],
        [0.25, '{"k":1}', undefined],
      ],
    )
    assert.deepEqual([chart?.kind, chart?.left, chart?.right], ['bars', 'a', '+11'])
  })

  test('of numbers names the range of each bar', () => {
    const chart = draw({ type: 'number' }, 9, {
      nulls: 1,
      histogram: { from: 0.44, to: 17098242, step: 8549120.78, counts: [8, 0] },
    })
    assert.deepEqual(
      chart?.parts.map(({ label, condition }) => [label, condition?.is]),
      [
        ['0 to under 8,549,121', 'within'],
        ['8,549,121 to 17,098,242', undefined],
      ],
    )
    assert.deepEqual([chart?.left, chart?.right], ['0.44', '17.1M'])
  })
})

suite('the texts of summaries', () => {
  const of = (type: FieldType) => testField({ name: 'f', type })

  test('numbers are shortened where space is limited', () => {
    assert.deepEqual(
      [0, 0.00012, -1234, 9.99e14, 1e300, 42].map((place) => shortEnds(of('number'), place, 0)[0]),
      ['0', '1.2e-4', '-1.23K', '999T', '1e300', '42'],
    )
    assert.deepEqual(shortEnds(of('date'), '2020-01-01', '2025-04-29'), ['2020', '2025'])
    assert.deepEqual(shortEnds(of('date'), '2024-11-01', '2025-04-29'), ['2024-11', '2025-04'])
    assert.deepEqual(shortEnds(of('date'), '2024-11-01', '2024-11-29'), ['Nov 1', 'Nov 29'])
    assert.deepEqual(
      shortEnds(of('timestamp'), '2026-01-01T12:00:01.000Z', '2026-01-01T12:00:59.000Z').map((end) =>
        end.slice(-3),
      ),
      [':01', ':59'],
    )
    assert.equal(exactPlace(of('number'), 0.15000000000000002, 0.05), '0.15')
    assert.equal(exactPlace(of('number'), 1e300, 1e299), '1e300')
    assert.equal(exactPlace(of('integer'), 12345, 3), '12,345')
    const year = testField({ name: 'year', type: 'integer' })
    assert.deepEqual(shortEnds(year, 1998, 2024), ['1998', '2024'])
    assert.equal(exactPlace(year, 2024, 1), '2024')
  })

  test('a nonzero part is never shown as none or all', () => {
    assert.deepEqual(
      [
        percent(0, 5),
        percent(1, 5000),
        percent(4999, 5000),
        percent(5, 5),
        percent(1, 3),
        percent(1, 30),
        percent(0, 0),
      ],
      ['0%', '<0.1%', '>99.9%', '100%', '33%', '3.3%', '0%'],
    )
  })
})

import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import type { JsonObject } from '../../contract/json/json.ts'
import { QueryError } from '../../errors/service-error.ts'
import type { FieldSummary, GroupQuery, Summary } from '../sheet-store.ts'
import { seededRandom } from './support/random.ts'
import { IN_TURN, TestSheet, type OpenStore } from './support/test-sheet.ts'

const PROPERTIES = [
  '{name: word, logicalType: string}',
  '{name: size, logicalType: integer}',
  '{name: share, logicalType: number}',
  '{name: open, logicalType: boolean}',
  '{name: day, logicalType: date}',
  '{name: moment, logicalType: timestamp}',
  '{name: hour, logicalType: time}',
  '{name: tags, logicalType: array}',
  '{name: thing, logicalType: object}',
]

/** Tests of summaries, field by field. */
export function testSummaries(open: OpenStore): void {
  suite('summaries', IN_TURN, () => {
    const sheet = TestSheet.shared(open, { properties: PROPERTIES })
    beforeEach(async () => {
      await sheet.empty()
    })

    const summary = async (fields: readonly string[], filter: string | null = null): Promise<Summary> =>
      JSON.parse(String(await sheet.store.summary({ fields, filter }))) as Summary
    const of = async (
      field: string,
      values: readonly unknown[],
      filter: string | null = null,
    ): Promise<FieldSummary | undefined> => {
      await sheet.empty()
      await sheet.write(values.map((value, index) => ({ id: `r${index}`, [field]: value }) as JsonObject))
      return (await summary([field], filter)).fields[field]
    }

    test('the count is that of the records that match the filter', async () => {
      assert.deepEqual(await summary([]), { count: 0, fields: {} })
      await sheet.write([1, 2, 3].map((size) => ({ id: `r${size}`, size })))
      assert.deepEqual(await summary([]), { count: 3, fields: {} })
      assert.deepEqual(await summary([], 'size > 1'), { count: 2, fields: {} })
      assert.deepEqual(await summary(['id'], 'size > 1'), {
        count: 2,
        fields: { id: { nulls: 0, distinct: 2 } },
      })
      await assert.rejects(summary(['id'], 'size >'), QueryError)
      await assert.rejects(summary(['id'], '"$seq" > 0'), QueryError)
      await assert.rejects(summary(['id'], '1) UNION SELECT 1 WHERE (1'), QueryError)
    })

    test('groups count records by their values, the largest first, and add up numbers', async () => {
      const groups = async (
        query: Partial<GroupQuery> & { readonly by: string },
        filter: string | null = null,
      ) => {
        const whole = { split: null, totals: [], period: 'month', ...query } as const
        const text = await sheet.store.summary({ fields: [], filter, groups: whole })
        return (JSON.parse(String(text)) as Summary).groups
      }
      await sheet.write([
        { id: 'a', word: 'x', size: 1, open: true, day: '2026-01-31', moment: '2026-02-01T00:30:00+01:00' },
        {
          id: 'b',
          word: 'x',
          size: 2,
          open: false,
          day: '2026-01-01',
          moment: '2026-02-01T00:30:00Z',
          share: 0.5,
        },
        { id: 'c', word: 'é', size: 2, open: true, day: '2025-12-31' },
        { id: 'd', size: 4 },
        { id: 'e', word: 'y'.repeat(201) },
      ])
      assert.deepEqual(await groups({ by: 'word', totals: ['size', 'share'] }), [
        { value: 'x', count: 2, totals: { size: 3, share: 0.5 } },
        { value: null, count: 1, totals: { size: 4, share: 0 } },
        { value: 'é', count: 1, totals: { size: 2, share: 0 } },
      ])
      assert.deepEqual(await groups({ by: 'size' }, 'size > 1'), [
        { value: 2, count: 2, totals: {} },
        { value: 4, count: 1, totals: {} },
      ])
      assert.deepEqual(await groups({ by: 'word', split: 'open' }, "word = 'x'"), [
        { value: 'x', split: false, count: 1, totals: {} },
        { value: 'x', split: true, count: 1, totals: {} },
      ])
      await sheet.write([9, 10].map((size) => ({ id: `n${size}`, size, day: '2024-06-01' })))
      assert.deepEqual(
        (await groups({ by: 'size' }, "day = '2024-06-01'"))?.map(({ value }) => value),
        [9, 10],
        'numbers in their order',
      )
      const counts = async (by: string, period: GroupQuery['period']) =>
        (await groups({ by, period }, `${by} > '2025-01-01'`))?.map(({ value, count }) => [value, count])
      assert.deepEqual(await counts('day', 'year'), [
        ['2026', 2],
        ['2025', 1],
      ])
      assert.deepEqual(await counts('day', 'month'), [
        ['2026-01', 2],
        ['2025-12', 1],
      ])
      assert.deepEqual(await counts('moment', 'day'), [
        ['2026-01-31', 1],
        ['2026-02-01', 1],
      ])
    })

    test('a histogram is divided by the most frequent values of a second field', async () => {
      const parts = async (field: string, by: string, filter: string | null = null) => {
        const split = { by, period: 'year' } as const
        const text = await sheet.store.summary({ fields: [field], filter, split })
        return (JSON.parse(String(text)) as Summary).fields[field]?.histogram?.splits
      }
      await sheet.write([
        { id: 'a', size: 1, word: 'x', open: true, day: '2026-01-31' },
        { id: 'b', size: 1, word: 'x', open: false },
        { id: 'c', size: 3, word: 'y', open: true, day: '2025-12-31' },
        { id: 'd', size: 3 },
        { id: 'e', size: 3, word: 'y'.repeat(201), open: true },
        { id: 'f', word: 'x' },
      ])
      assert.deepEqual(await parts('size', 'word'), [
        { value: 'x', counts: [2, 0, 0] },
        { value: null, counts: [0, 0, 1] },
        { value: 'y', counts: [0, 0, 1] },
      ])
      assert.deepEqual(await parts('size', 'open', "id <> 'd'"), [
        { value: true, counts: [1, 0, 2] },
        { value: false, counts: [1, 0, 0] },
      ])
      assert.deepEqual(await parts('size', 'day', 'day IS NOT NULL'), [
        { value: '2025', counts: [0, 0, 1] },
        { value: '2026', counts: [1, 0, 0] },
      ])
      assert.deepEqual(await parts('day', 'size'), [
        { value: 1, counts: [...Array<number>(15).fill(0), 1] },
        { value: 3, counts: [1, ...Array<number>(15).fill(0)] },
      ])
      await sheet.write(
        Array.from({ length: 12 }, (_, index) => ({ id: `n${index}`, share: 1, size: index })),
      )
      assert.equal((await parts('share', 'size'))?.length, 10)
    })

    test('a field without any value has no other summary', async () => {
      await sheet.write([{ id: 'a' }, { id: 'b' }])
      const { fields } = await summary(sheet.fields.slice(1))
      for (const field of sheet.fields.slice(1)) assert.deepEqual(fields[field], { nulls: 2 }, field)
    })

    test('texts, times and booleans have their most frequent values, ties in their own order', async () => {
      assert.deepEqual(await of('word', ['b', 'a', null, 'b', 'c', '', 'x'.repeat(201)]), {
        nulls: 1,
        distinct: 5,
        top: [
          { value: 'b', count: 2 },
          { value: '', count: 1 },
          { value: 'a', count: 1 },
          { value: 'c', count: 1 },
        ],
      })
      assert.deepEqual(await of('open', [true, false, true, null]), {
        nulls: 1,
        distinct: 2,
        top: [
          { value: true, count: 2 },
          { value: false, count: 1 },
        ],
      })
      assert.deepEqual((await of('hour', ['12:00:00', '12:00:00']))?.top, [{ value: '12:00:00', count: 2 }])
      const many = await of(
        'word',
        Array.from({ length: 30 }, (_, index) => `w${index % 15}`),
      )
      assert.deepEqual([many?.distinct, many?.top?.length], [15, 10])
    })

    test('arrays have their most frequent items, whatever their types', async () => {
      assert.deepEqual(await of('tags', [['a', 'b'], ['a', 1, true], [], null, ['1', null, { k: 1 }]]), {
        nulls: 1,
        distinct: 6,
        top: [
          { value: 'a', count: 2 },
          { value: '1', count: 1 },
          { value: 'b', count: 1 },
          { value: 1, count: 1 },
          { value: true, count: 1 },
          { value: { k: 1 }, count: 1 },
        ].toSorted(
          (a, b) => b.count - a.count || (JSON.stringify(a.value) < JSON.stringify(b.value) ? -1 : 1),
        ),
      })
      assert.deepEqual(await of('thing', [{ a: 1 }, null]), { nulls: 1 })
    })

    test('few whole numbers or days have a range each', async () => {
      assert.deepEqual(await of('size', [3, 5, 5, null, 7]), {
        nulls: 1,
        histogram: { from: 3, to: 7, step: 1, counts: [1, 0, 2, 0, 1] },
      })
      assert.deepEqual((await of('size', [4]))?.histogram, { from: 4, to: 4, step: 1, counts: [1] })
      assert.deepEqual((await of('day', ['2024-02-28', '2024-03-01', '2024-03-01']))?.histogram, {
        from: '2024-02-28',
        to: '2024-03-01',
        step: 1,
        counts: [1, 0, 2],
      })
    })

    test('ranges are of equal width, and the greatest value is in the last', async () => {
      assert.deepEqual((await of('share', [0, 0.5, 10, 9.99]))?.histogram, {
        from: 0,
        to: 10,
        step: 0.5,
        counts: [1, 1, ...Array<number>(17).fill(0), 2],
      })
      const moments = await of('moment', [
        '2024-03-10T12:00:00+02:00',
        '2024-03-10T10:00:20.000Z',
        '2024-03-10T10:00:03Z',
      ])
      assert.deepEqual(moments?.histogram, {
        from: '2024-03-10T10:00:00.000Z',
        to: '2024-03-10T10:00:20.000Z',
        step: 1,
        counts: [1, 0, 0, 1, ...Array<number>(15).fill(0), 1],
      })
      const whole = (await of('size', [0, 46, 100]))?.histogram
      // 101 values in ranges of 6.
      assert.deepEqual(
        [whole?.step, whole?.counts.length, whole?.counts[7], whole?.counts[16]],
        [6, 17, 1, 1],
      )
      const same = (await of('share', [2.5, 2.5]))?.histogram
      assert.deepEqual(same, { from: 2.5, to: 2.5, step: 1, counts: [2] })
      // Beyond the greatest number.
      assert.deepEqual(await of('share', [-1.7e308, 1.7e308]), { nulls: 0 })
      const tiny = (await of('share', [0, 5e-324]))?.histogram
      assert.equal(
        tiny?.counts.reduce((sum, count) => sum + count),
        2,
      )
    })

    test('a histogram counts every value once, of the filtered records only', async () => {
      for (let seed = 1; seed <= 20; seed += 1) {
        const random = seededRandom(seed)
        const scale = 10 ** (random.below(12) - 4)
        const values = Array.from({ length: 100 }, () =>
          random.chance(0.1) ? null : (random.below(2000) - 1000) * scale,
        )
        const found = await of('share', values, 'share > 0 OR share IS NULL')
        const kept = values.filter((value) => value === null || value > 0)
        const numbers = kept.filter((value) => value !== null)
        assert.equal(found?.nulls, kept.length - numbers.length)
        const { from, to, step, counts } = found?.histogram ?? { from: 0, to: 0, step: 1, counts: [] }
        assert.deepEqual([from, to], [Math.min(...numbers), Math.max(...numbers)], `seed ${seed}`)
        const wanted = Array<number>(20).fill(0)
        for (const value of numbers) wanted[Math.min(19, Math.trunc((value - Number(from)) / step))]! += 1
        assert.deepEqual(counts, wanted, `seed ${seed}`)
      }
    })
  })
}

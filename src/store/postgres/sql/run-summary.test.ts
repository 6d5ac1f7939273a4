import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { createPostgresRecords, type PostgresRecords } from '../../../../test/support/postgres-records.ts'
import { field } from '../../../../test/support/sheet-database.ts'
import { QueryError } from '../../../errors/service-error.ts'
import type { Summary } from '../../sheet-store.ts'
import { DEFAULT_QUERY_LIMITS, SqlPool } from './sql-pool.ts'

const FIELDS = [
  field('id', 'string'),
  field('word', 'string'),
  field('size', 'integer'),
  field('share', 'number'),
  field('open', 'boolean'),
  field('day', 'date'),
  field('at', 'timestamp'),
  field('hour', 'time'),
  field('tags', 'array'),
  field('thing', 'object'),
]

suite('a summary', () => {
  let sheet: PostgresRecords
  let pool: SqlPool

  before(async () => {
    sheet = await createPostgresRecords(FIELDS)
    await sheet.insert(
      { id: 'a', word: 'é', size: 3, share: 1e-300, open: true, day: '2024-02-28', at: '2024-03-10T12:00:00+02:00', hour: '12:00:00', tags: ['x', 1, 'x'], thing: { b: 1, a: 2 } },
      { id: 'b', word: 'Z', size: 5, share: 1e200, open: true, day: '2024-03-01', at: '2024-03-10T10:00:20Z', hour: '12:00:00', tags: [null, { k: 1 }] },
      { id: 'c', word: 'a', size: 5, share: 0, open: false, day: '2024-03-01', tags: [] },
      { id: 'd', word: 'x'.repeat(201) },
    ) // prettier-ignore
    pool = new SqlPool({ database: sheet.database, limits: DEFAULT_QUERY_LIMITS })
  })

  after(async () => {
    await pool.close()
    await sheet.close()
  })

  async function summary(filter: string | null, names = FIELDS.map(({ name }) => name)): Promise<Summary> {
    const fields = FIELDS.filter(({ name }) => names.includes(name))
    return JSON.parse(String(await pool.summary({ filter, fields, allFields: FIELDS }))) as Summary
  }

  test('describes the values of each field: their number, their distribution, or the frequent ones', async () => {
    const spread = (...filled: readonly [number, number][]): number[] =>
      Array.from({ length: 20 }, (_, index) => filled.find(([range]) => range === index)?.[1] ?? 0)
    assert.deepEqual(await summary(null), {
      count: 4,
      fields: {
        id: { nulls: 0, distinct: 4 },
        // In the order of their bytes.
        word: { nulls: 0, distinct: 4, top: [{ value: 'Z', count: 1 }, { value: 'a', count: 1 }, { value: 'é', count: 1 }] },
        size: { nulls: 1, histogram: { from: 3, to: 5, step: 1, counts: [1, 0, 2] } },
        share: { nulls: 1, histogram: { from: 0, to: 1e200, step: 1e200 / 20, counts: spread([0, 2], [19, 1]) } },
        open: { nulls: 1, distinct: 2, top: [{ value: true, count: 2 }, { value: false, count: 1 }] },
        day: { nulls: 1, histogram: { from: '2024-02-28', to: '2024-03-01', step: 1, counts: [1, 0, 2] } },
        at: { nulls: 2, histogram: { from: '2024-03-10T10:00:00.000Z', to: '2024-03-10T10:00:20.000Z', step: 1, counts: spread([0, 1], [19, 1]) } },
        hour: { nulls: 2, distinct: 1, top: [{ value: '12:00:00', count: 2 }] },
        tags: { nulls: 1, distinct: 3, top: [{ value: 'x', count: 2 }, { value: 1, count: 1 }, { value: { k: 1 }, count: 1 }] },
        thing: { nulls: 3 },
      },
    }) // prettier-ignore
  })

  test('covers the records that match the filter', async () => {
    assert.deepEqual(await summary('size > 3', ['word', 'size']), {
      count: 2,
      fields: {
        word: { nulls: 0, distinct: 2, top: [{ value: 'Z', count: 1 }, { value: 'a', count: 1 }] },
        size: { nulls: 0, histogram: { from: 5, to: 5, step: 1, counts: [2] } },
      },
    }) // prettier-ignore
    assert.deepEqual(await summary('false', ['size', 'word']), { count: 0, fields: { word: { nulls: 0 }, size: { nulls: 0 } } }) // prettier-ignore
    assert.deepEqual(await summary('-- nothing\ntrue', []), { count: 4, fields: {} })
  })

  test('D16: a filter of a summary is a single expression, and cannot name internal columns of the summary', async () => {
    for (const filter of ['size >', '"$seq" > 0', '"$value" = 1', 'true) GROUP BY (1', 'EXISTS (SELECT FROM pg_class)', 'true) AS x, (SELECT 1']) {
      await assert.rejects(summary(filter), QueryError, filter)
    } // prettier-ignore
  })
})

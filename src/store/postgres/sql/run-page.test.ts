import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { createPostgresRecords, type PostgresRecords } from '../../../../test/support/postgres-records.ts'
import { field } from '../../../../test/support/sheet-database.ts'
import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import { QueryError } from '../../../errors/service-error.ts'
import type { PagePlace } from '../../sheet-store.ts'
import { seededRandom, type Random } from '../../suite/support/random.ts'
import type { PageRun } from './run-page.ts'
import { DEFAULT_QUERY_LIMITS, SqlPool } from './sql-pool.ts'

const FIELDS = [
  field('id', 'string'),
  field('n', 'integer'),
  field('share', 'number'),
  field('done', 'boolean'),
  field('day', 'date'),
  field('at', 'timestamp'),
  field('hour', 'time'),
  field('tags', 'array'),
]
const COUNT = 40

interface Listed {
  readonly records: readonly JsonObject[]
  readonly next: PagePlace | null
}

suite('a filtered page', () => {
  let sheet: PostgresRecords
  let pool: SqlPool

  before(async () => {
    sheet = await createPostgresRecords(FIELDS)
    const records = Array.from({ length: COUNT }, (_, index) => index + 1).map((n) => ({
      id: `r${String(n).padStart(3, '0')}`,
      n,
      done: n % 2 === 1,
      tags: [n % 3, `t${n % 5}`],
    }))
    await sheet.insert(...records)
    pool = new SqlPool({ database: sheet.database, limits: DEFAULT_QUERY_LIMITS })
  })

  after(async () => {
    await pool.close()
    await sheet.close()
  })

  const page = (filter: string, more: Partial<PageRun> = {}): Promise<Listed> =>
    list(pool, { filter, limit: 100, fields: FIELDS.slice(1, 2), ...more })

  async function numbers(filter: string, more: Partial<PageRun> = {}): Promise<readonly JsonValue[]> {
    return (await page(filter, more)).records.map(({ n }) => n ?? null)
  }

  /** Filters, and which of the numbers 1 to 40 they select. */
  const FILTERS: readonly (readonly [string, (n: number) => boolean])[] = [
    ['n > 30', (n) => n > 30],
    ['done', (n) => n % 2 === 1],
    ['NOT done AND n < 10', (n) => n % 2 === 0 && n < 10],
    ['1 = 1', () => true],
    ['false', () => false],
    ['NULL', () => false],
    ['n = 1 OR 1 = 1', () => true],
    ['n = 1 OR n = 2 -- either\n', (n) => n <= 2],
    ['n = 1 OR n = 2 -- either\r', (n) => n <= 2],
    ['/* these /* ) */ */ n IN (3, 4) /* and no others */', (n) => n === 3 || n === 4],
    ["id = 'r007'", (n) => n === 7],
    ["id = E'r\\u0030\\'' OR id = E'r\\x3007'", (n) => n === 7],
    ["records.id >= 'r010' AND id < 'r012'", (n) => n === 10 || n === 11],
    ["id BETWEEN 'r001' AND 'r020'", (n) => n <= 20],
    ["id <> ')' AND id <> '--' AND id <> '/*'", () => true],
    ['"id" LIKE \'%9\'', (n) => n % 10 === 9],
    ['CASE WHEN n > 5 THEN n < 8 ELSE false END', (n) => n === 6 || n === 7],
    ["jsonb_exists(tags, 't4')", (n) => n % 5 === 4],
    ["EXISTS (SELECT 1 FROM jsonb_array_elements_text(tags) AS t(value) WHERE value = 't4')", (n) => n % 5 === 4],
    ["tags -> 0 = '2'", (n) => n % 3 === 2],
    ['(tags ->> 0)::int = 1', (n) => n % 3 === 1],
    ['n = (SELECT max(n) FROM records)', (n) => n === COUNT],
    ['(SELECT count(*) FROM records) = 40', () => true],
    ['n IN (SELECT o.n FROM records AS o WHERE o.done AND o.n > 35)', (n) => n > 35 && n % 2 === 1],
    ['EXISTS (SELECT 1 FROM records AS o WHERE o.n = records.n + 39)', (n) => n === 1],
    ['n IN (WITH t(x) AS (VALUES (2), (5)) SELECT x FROM t)', (n) => n === 2 || n === 5],
    ['n = ANY (ARRAY[3, 4])', (n) => n === 3 || n === 4],
    ['(n, done) = (3, true)', (n) => n === 3],
    ['n IS DISTINCT FROM 3 AND n < 5', (n) => n < 5 && n !== 3],
    ["id ~ '^r00[12]$'", (n) => n <= 2],
  ] // prettier-ignore

  for (const [filter, expected] of FILTERS) {
    test(`D16: the filter ${JSON.stringify(filter)} matches the right records, page by page`, async () => {
      const all = Array.from({ length: COUNT }, (_, index) => index + 1).filter(expected)
      assert.deepEqual(await numbers(filter), all)
      for (const limit of [1, 7]) {
        const walked: JsonValue[] = []
        let place: PagePlace | null = null
        let pages = 0
        do {
          const { records, next }: Listed = await page(filter, { limit, after: place })
          walked.push(...records.map(({ n }) => n ?? null))
          assert.ok(records.length === limit || next === null)
          pages += 1
          place = next
        } while (place !== null)
        assert.deepEqual(walked, all)
        // D11: no page comes after the last record.
        assert.equal(pages, Math.max(1, Math.ceil(all.length / limit)))
      }
    })
  }

  test('D16: a filter cannot reach records before the cursor', async () => {
    for (const filter of ['1 = 1', 'n = 1 OR 1 = 1', 'NOT false OR n < 3', 'n < 3 OR (SELECT true)']) {
      assert.deepEqual(await numbers(filter, { after: { key: 38, values: [] } }), [39, 40], filter)
    }
  })

  test('D12: a page has the requested fields, in that order and typed', async () => {
    const fields = [FIELDS[0], FIELDS[3], FIELDS[7]].flatMap((each) => each ?? [])
    const { records, next } = await page('n = 3', { fields })
    assert.deepEqual(records.map(Object.entries), [[['id', 'r003'], ['done', true], ['tags', [0, 't3']]]]) // prettier-ignore
    assert.equal(next, null)
    assert.deepEqual((await page('n < 3', { fields: [] })).records, [{}, {}])
  })

  test('D16: a refused filter has a message with the error', async () => {
    const refusals: readonly (readonly [string, RegExp])[] = [
      ['foo = 1', /column "foo" does not exist/],
      ['n = 1) OR (1 = 1', /syntax error at or near "\)"/],
      ['n > 1 -- all', /comment/],
      ['n = ?', /placeholders: \?/],
      ['n = 1; SELECT 1', /semicolon/],
      ['count(*) > 1', /aggregate functions are not allowed/],
      ['n', /must be type boolean, not type bigint/],
      ['EXISTS (SELECT 1 FROM pg_class)', /no such table: pg_class/],
      ['n / (n - 5) > 0', /division by zero/],
      ['records.nowhere = 1', /does not exist/],
    ]
    for (const [filter, words] of refusals) {
      await assert.rejects(
        page(filter),
        (error) => error instanceof QueryError && words.test(error.message),
        filter,
      )
    }
  })

  test('D16: naming the record as a whole reveals only its fields', async () => {
    const filter =
      "records::text LIKE '(r003,3,%' AND to_jsonb(records) - ARRAY['id','n','share','done','day','at','hour','tags'] = '{}'"
    assert.deepEqual(await numbers(filter), [3])
  })
})

suite('a sorted page', () => {
  let sheet: PostgresRecords
  let pool: SqlPool
  let records: readonly JsonObject[]

  /** Few values, so that many are equal. */
  const VALUES: Readonly<Record<string, readonly JsonValue[]>> = {
    n: [null, -(2 ** 53) + 1, -1, 0, 7, 2 ** 53 - 1],
    share: [null, -1.5, 0, 0.1, 1e300, 0.30000000000000004],
    done: [null, true, false],
    day: [null, '1999-12-31', '2024-02-29', '2024-03-01', '0000-01-01'],
    at: [null, '2024-03-10T12:00:00Z', '2024-03-10T13:00:00+02:00', '2024-03-10T14:00:00+02:00', '2024-03-10T12:00:00.5Z'],
    hour: [null, '00:00:00', '12:30:00', '23:59:59'],
  } // prettier-ignore
  const WORDS = [
    '',
    'a',
    'B',
    'é',
    'z',
    '\u{1f600}',
    'A b',
    'a-b',
    `${'x'.repeat(511)}1`,
    `${'x'.repeat(600)}2`,
  ]

  before(async () => {
    sheet = await createPostgresRecords(FIELDS)
    const random = seededRandom(3)
    records = Array.from({ length: 60 }, (_, index) => ({
      id: `${random.pick(WORDS)}${index}`,
      ...Object.fromEntries(Object.entries(VALUES).map(([name, values]) => [name, random.pick(values)])),
      tags: null,
    }))
    await sheet.insert(...records)
    pool = new SqlPool({ database: sheet.database, limits: DEFAULT_QUERY_LIMITS })
  })

  after(async () => {
    await pool.close()
    await sheet.close()
  })

  test('a walk in any order returns each record once, as written, those without a value last, equal ones in the direction of the last field', async () => {
    for (let seed = 1; seed <= 30; seed += 1) {
      const random = seededRandom(seed)
      const sort = randomSort(random)
      const descending = sort.at(-1)?.descending === true
      const filter = random.chance(0.3) ? 'n >= 0' : null
      const wanted = records
        .map((record, index) => ({ record, index }))
        .filter(({ record }) => filter === null || (record['n'] !== null && Number(record['n']) >= 0))
        .toSorted(
          (a, b) => compare(a.record, b.record, sort) || (descending ? b.index - a.index : a.index - b.index),
        )
        .map(({ record }) => record)
      const what = `seed ${seed}: ${sort.map(({ field: { name }, descending: down }) => `${down ? '-' : ''}${name}`).join()}`
      const limit = 1 + random.below(12)
      const walked: JsonObject[] = []
      let place: PagePlace | null = null
      do {
        const listed: Listed = await list(pool, { sort, filter, limit, after: place, fields: FIELDS })
        walked.push(...listed.records)
        // A cursor makes the same conversion.
        place = JSON.parse(JSON.stringify(listed.next)) as PagePlace | null
      } while (place !== null)
      assert.deepEqual(walked, wanted, what)
      const skip = random.below(70)
      const page = await list(pool, { sort, filter, limit: 5, skip, fields: FIELDS })
      assert.deepEqual(page.records, wanted.slice(skip, skip + 5), `${what} from ${skip}`)
      assert.equal(page.next === null, skip + 5 >= wanted.length)
    }
  })

  test('a descending sort is the reverse of the ascending one, except for records without a value', async () => {
    const [n = field('n', 'integer')] = FIELDS.slice(1)
    const filter = 'n IS NOT NULL'
    const up = await list(pool, {
      filter,
      limit: 100,
      fields: FIELDS,
      sort: [{ field: n, descending: false, index: null }],
    })
    const down = await list(pool, {
      filter,
      limit: 100,
      fields: FIELDS,
      sort: [{ field: n, descending: true, index: null }],
    })
    assert.deepEqual(down.records, up.records.toReversed())
  })

  function randomSort(random: Random): PageRun['sort'] {
    const fields = FIELDS.slice(0, 7).filter(() => random.chance(0.35))
    const [first = field('id', 'string')] = FIELDS
    return (fields.length === 0 ? [first] : fields)
      .toSorted(() => random.below(3) - 1)
      .map((each) => ({
        field: each,
        descending: random.chance(0.5),
        index: random.pick([null, each.type === 'string' ? 'divided' : 'whole'] as const),
      }))
  }
})

async function list(pool: SqlPool, run: Partial<PageRun>): Promise<Listed> {
  const page = await pool.page({
    fields: FIELDS,
    allFields: FIELDS,
    limit: 10,
    after: null,
    filter: null,
    sort: [],
    skip: 0,
    ...run,
  })
  return { records: JSON.parse(String(page.records)) as JsonObject[], next: page.next }
}

function compare(a: JsonObject, b: JsonObject, sort: PageRun['sort']): number {
  for (const { field: by, descending } of sort) {
    const [left, right] = [comparable(by.name, a[by.name]), comparable(by.name, b[by.name])]
    const order =
      Buffer.isBuffer(left) && Buffer.isBuffer(right) ? left.compare(right) : plainOrder(left, right)
    if (left === null || right === null) {
      if (left !== right) return left === null ? 1 : -1
    } else if (order !== 0) return descending ? -order : order
  }
  return 0
}

function plainOrder(left: unknown, right: unknown): number {
  return left === right ? 0 : Number(left) < Number(right) ? -1 : 1
}

/** Texts by the bytes in UTF-8. */
function comparable(name: string, value: JsonValue | undefined): number | boolean | Buffer | null {
  if (name === 'at' && typeof value === 'string') return Date.parse(value)
  if (typeof value === 'string') return Buffer.from(value)
  return typeof value === 'number' || typeof value === 'boolean' ? value : null
}

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { QueryError } from '../../errors/service-error.ts'
import type { Page, PagePlace, PageQuery, SortKey } from '../sheet-store.ts'
import { seededRandom, type Random } from './support/random.ts'
import { FIRST_PAGE, HUMAN, IN_TURN, TestSheet, type OpenStore } from './support/test-sheet.ts'

const PROPERTIES = [
  '{name: word, logicalType: string}',
  '{name: size, logicalType: integer}',
  '{name: share, logicalType: number}',
  '{name: open, logicalType: boolean}',
  '{name: day, logicalType: date}',
  '{name: moment, logicalType: timestamp}',
]

/** Few values, so that many are equal. */
const VALUES: Readonly<Record<string, readonly JsonValue[]>> = {
  word: [null, '', 'a', 'B', 'é', 'z', '\u{1f600}', `${'x'.repeat(511)}1`, `${'x'.repeat(600)}2`],
  size: [null, -(2 ** 53) + 1, -1, 0, 7, 2 ** 53 - 1],
  share: [null, -1.5, 0, 0.1, 1e300],
  open: [null, true, false],
  day: [null, '1999-12-31', '2024-02-29', '2024-03-01'],
  // The second is the earliest, the first and the third are the same time.
  moment: [
    null,
    '2024-03-10T12:00:00Z',
    '2024-03-10T13:00:00+02:00',
    '2024-03-10T14:00:00+02:00',
    '2024-03-10T12:00:00.5Z',
  ],
}

/** The same fields, each with an index. */
const INDEXED = PROPERTIES.map((property) => property.replace('}', ', x-indexed: true}'))

/** Tests of pages in the order of some fields, and of pages that start at a position. */
export function testSortedPages(open: OpenStore): void {
  testOrders(open, 'sorted pages and positions', PROPERTIES)
  testOrders(open, 'sorted pages and positions, with indexes', INDEXED)
}

function testOrders(open: OpenStore, name: string, properties: readonly string[]): void {
  suite(name, IN_TURN, () => {
    const sheet = TestSheet.shared(open, { properties })

    test('a walk in any order returns each record once, sorted, those without a value last, equal ones in creation order or its reverse', async () => {
      for (let seed = 1; seed <= 10; seed += 1) {
        const random = seededRandom(seed)
        await sheet.empty()
        await sheet.write(Array.from({ length: 40 }, (_, index) => randomRecord(random, index)))
        const records = await sheet.all()
        const sort = randomSort(random)
        const filter = random.chance(0.3) ? 'size >= 0' : null
        const wanted = records
          .filter(({ size }) => filter === null || (size !== null && Number(size) >= 0))
          .map((record, index) => ({ record, index }))
          .toSorted(
            (a, b) =>
              compare(a.record, b.record, sort) ||
              (a.index - b.index) * (sort.at(-1)?.descending === true ? -1 : 1),
          )
          .map(({ record }) => record)
        const what = `seed ${seed}: ${JSON.stringify(sort)}`
        const seen = await walk(sheet, { sort, filter, limit: 3 + random.below(9) })
        assert.deepEqual(ids(seen), ids(wanted), what)
        const skip = random.below(50)
        const page = await sheet.store.page({
          ...FIRST_PAGE,
          fields: sheet.fields,
          limit: 5,
          sort,
          filter,
          skip,
        })
        assert.deepEqual(recordsOf(page), wanted.slice(skip, skip + 5), `${what} from ${skip}`)
        assert.equal(page.next === null, skip + 5 >= wanted.length, what)
      }
    })

    test('in creation order every position is found, whatever was deleted and recreated', async () => {
      for (let seed = 1; seed <= 8; seed += 1) {
        const random = seededRandom(seed)
        await sheet.empty()
        for (let step = 0; step < 30; step += 1) {
          const names = Array.from({ length: 1 + random.below(5) }, () => `r${random.below(20)}`)
          if (random.chance(0.5)) await sheet.write(names.map((id) => ({ id })))
          else await sheet.store.delete(names, HUMAN)
          // A refused batch assigns no keys.
          if (random.chance(0.2)) await assert.rejects(sheet.write([{ id: 'new' }, { id: 'bad', size: 'x' }]))
        }
        const all = ids(await sheet.all())
        for (let skip = 0; skip <= all.length + 1; skip += 1) {
          const page = await sheet.store.page({ ...FIRST_PAGE, fields: ['id'], limit: 3, skip })
          assert.deepEqual(ids(recordsOf(page)), all.slice(skip, skip + 3), `seed ${seed}, from ${skip}`)
          assert.equal(page.next === null, skip + 3 >= all.length)
          if (page.next === null) continue
          const rest = await sheet.store.page({ ...FIRST_PAGE, fields: ['id'], limit: 100, after: page.next })
          assert.deepEqual(ids(recordsOf(rest)), all.slice(skip + 3))
        }
      }
    })

    test('a position in an order stays valid without its record', async () => {
      await sheet.empty()
      await sheet.write(['a', 'b', 'c', 'd'].map((id, size) => ({ id, size })))
      const sort = [{ field: 'size', descending: true }]
      const first = await sheet.store.page({ ...FIRST_PAGE, fields: ['id'], limit: 2, sort })
      await sheet.store.delete(['c'], HUMAN)
      const rest = await sheet.store.page({
        ...FIRST_PAGE,
        fields: ['id'],
        limit: 2,
        sort,
        after: first.next,
      })
      assert.deepEqual(
        [ids(recordsOf(first)), ids(recordsOf(rest)), rest.next],
        [['d', 'c'], ['b', 'a'], null],
      )
    })

    test('a position among long texts with the same start is found, and without its record they are returned again', async () => {
      const beginning = 'x'.repeat(512)
      await sheet.empty()
      await sheet.write(['c', 'a', 'd', 'b'].map((end) => ({ id: end, word: beginning + end })))
      for (const descending of [false, true]) {
        const sort = [{ field: 'word', descending }]
        const order = descending ? ['d', 'c', 'b', 'a'] : ['a', 'b', 'c', 'd']
        assert.deepEqual(ids(await walk(sheet, { sort, limit: 1 })), order)
      }
      const sort = [{ field: 'word', descending: false }]
      const first = await sheet.store.page({ ...FIRST_PAGE, fields: ['id'], limit: 2, sort })
      await sheet.write([{ id: 'b', word: 'y' }])
      const rest = await sheet.store.page({
        ...FIRST_PAGE,
        fields: ['id'],
        limit: 9,
        sort,
        after: first.next,
      })
      assert.deepEqual(ids(recordsOf(rest)), ['a', 'c', 'd', 'b'])
    })

    test('D16: a filter of a sorted page cannot name internal columns of the order', async () => {
      const sort = [{ field: 'size', descending: false }]
      for (const filter of ['"$0" = 1', '"$seq" > 0', 'place."$seq" > 0']) {
        const page = sheet.store.page({ ...FIRST_PAGE, fields: ['id'], limit: 2, sort, filter })
        await assert.rejects(page, QueryError, filter)
      }
    })
  })
}

async function walk(sheet: TestSheet, query: Partial<PageQuery>): Promise<JsonObject[]> {
  const records: JsonObject[] = []
  for (let after: PagePlace | null = null; ;) {
    const page: Page = await sheet.store.page({
      ...FIRST_PAGE,
      fields: sheet.fields,
      limit: 10,
      ...query,
      after,
    })
    records.push(...recordsOf(page))
    if (page.next === null) return records
    // A cursor makes the same conversion.
    after = JSON.parse(JSON.stringify(page.next)) as PagePlace
  }
}

function recordsOf({ records }: Page): JsonObject[] {
  return JSON.parse(String(records)) as JsonObject[]
}

function ids(records: readonly JsonObject[]): string[] {
  return records.map(({ id }) => id as string)
}

function randomRecord(random: Random, index: number): JsonObject {
  const values = Object.entries(VALUES).map(([field, choices]) => [field, random.pick(choices)])
  return { id: `r${index}`, ...(Object.fromEntries(values) as JsonObject) }
}

function randomSort(random: Random): SortKey[] {
  const fields = ['id', ...Object.keys(VALUES)].filter(() => random.chance(0.4))
  if (fields.length === 0) fields.push('word')
  return fields
    .toSorted(() => random.below(3) - 1)
    .map((field) => ({ field, descending: random.chance(0.5) }))
}

function compare(a: JsonObject, b: JsonObject, sort: readonly SortKey[]): number {
  for (const { field, descending } of sort) {
    const [left, right] = [comparable(field, a[field]), comparable(field, b[field])]
    if (left === right) continue
    if (left === null) return 1
    if (right === null) return -1
    return (left < right ? -1 : 1) * (descending ? -1 : 1)
  }
  return 0
}

/**
 * Returns a text whose UTF-16 order is that of its code points; all values here but one are in the Basic Multilingual
 * Plane.
 */
function comparable(field: string, value: JsonValue | undefined): string | number | boolean | null {
  if (field === 'moment' && typeof value === 'string') return Date.parse(value)
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}

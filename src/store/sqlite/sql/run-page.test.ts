import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { createSheetDatabase, field, type SheetDatabase } from '../../../../test/support/sheet-database.ts'
import { QueryError } from '../../../errors/service-error.ts'
import { runPage } from './run-page.ts'
import type { PagePlace } from '../../sheet-store.ts'
import { ResultWriter } from './sql-result.ts'
import { SqlDatabase } from './sql-database.ts'
import { toQueryError } from './sql-errors.ts'

const FIELDS = [
  field('id', 'string'),
  field('n', 'integer'),
  field('done', 'boolean'),
  field('tags', 'array'),
]
const COUNT = 40

const UNSORTED = { sort: [], skip: 0 } as const

function at(key: number): PagePlace {
  return { key, values: [] }
}

interface PageOptions {
  readonly limit?: number
  readonly after?: PagePlace | null
  readonly fields?: readonly string[]
}

suite('a filtered page', () => {
  let sheet: SheetDatabase
  let database: SqlDatabase

  before(() => {
    sheet = createSheetDatabase(FIELDS)
    for (let n = 1; n <= COUNT; n += 1) {
      sheet.insert(`r${String(n).padStart(3, '0')}`, n, n % 2, JSON.stringify([n % 3, `t${n % 5}`]))
    }
    database = new SqlDatabase(sheet.path)
  })

  after(() => {
    database.close()
    sheet.remove()
  })

  function page(filter: string, { limit = 100, after: key = null, fields = ['n'] }: PageOptions = {}) {
    const chunks: Uint8Array[] = []
    const writer = new ResultWriter((chunk) => chunks.push(Buffer.from(chunk)))
    const named = FIELDS.filter(({ name }) => fields.includes(name))
    try {
      const next = runPage(
        database,
        { ...UNSORTED, filter, limit, after: key, fields: named, allFields: FIELDS },
        writer,
      )
      writer.finish()
      return {
        records: JSON.parse(Buffer.concat(chunks).toString()) as readonly { readonly n: number }[],
        next,
      }
    } catch (error) {
      throw toQueryError(error)
    }
  }

  test('records are found by the index that a page names, in any order', () => {
    const run = { ...UNSORTED, filter: null, limit: 3, after: null, fields: FIELDS, allFields: FIELDS }
    const n = FIELDS.find(({ name }) => name === 'n') ?? assert.fail()
    const writer = new ResultWriter(() => undefined)
    for (const sort of [[], [{ field: n, descending: false, indexed: false }]])
      assert.throws(
        () => runPage(database, { ...run, sort, index: '$none' }, writer),
        /no such index: \$none/,
      )
  })

  function numbers(filter: string, options: PageOptions = {}): readonly number[] {
    return page(filter, options).records.map(({ n }) => n)
  }

  /** Filters, and which of the numbers 1 to 40 they select. */
  const FILTERS: readonly (readonly [string, (n: number) => boolean])[] = [
    ['n > 30', (n) => n > 30],
    ['done', (n) => n % 2 === 1],
    ['NOT done AND n < 10', (n) => n % 2 === 0 && n < 10],
    ['1 = 1', () => true],
    ['0', () => false],
    ['NULL', () => false],
    ['n = 1 OR 1 = 1', () => true],
    ['n = 1 OR n = 2 -- either\n', (n) => n <= 2],
    ['/* these */ n IN (3, 4) /* and no others */', (n) => n === 3 || n === 4],
    ["id = 'r007'", (n) => n === 7],
    ["id IN ('r007', 'r003')", (n) => n === 7 || n === 3],
    ["records.id >= 'r010' AND id < 'r012'", (n) => n === 10 || n === 11],
    ["id BETWEEN 'r001' AND 'r020'", (n) => n <= 20],
    ["id <> ')' AND id <> '--' AND id <> '/*'", () => true],
    ['"id" LIKE \'%9\'', (n) => n % 10 === 9],
    ['CASE WHEN n > 5 THEN n < 8 ELSE 0 END', (n) => n === 6 || n === 7],
    ["EXISTS (SELECT 1 FROM json_each(tags) WHERE value = 't4')", (n) => n % 5 === 4],
    ["json_extract(tags, '$[0]') = 2", (n) => n % 3 === 2],
    ['tags ->> 0 = 1', (n) => n % 3 === 1],
    ['n = (SELECT max(n) FROM records)', (n) => n === COUNT],
    ['(SELECT count(*) FROM records) = 40', () => true],
    ['n IN (SELECT o.n FROM records AS o WHERE o.done AND o.n > 35)', (n) => n > 35 && n % 2 === 1],
    ['EXISTS (SELECT 1 FROM records AS o WHERE o.n = records.n + 39)', (n) => n === 1],
    ['n IN (WITH t(x) AS (VALUES (2), (5)) SELECT x FROM t)', (n) => n === 2 || n === 5],
    ["(SELECT sum(value) FROM json_each('[1,2]')) = n", (n) => n === 3],
  ]

  for (const [filter, expected] of FILTERS) {
    test(`D16: the filter ${JSON.stringify(filter)} matches the right records, page by page`, () => {
      const all = Array.from({ length: COUNT }, (_, index) => index + 1).filter(expected)
      assert.deepEqual(numbers(filter), all)
      for (const limit of [1, 7]) {
        const walked: number[] = []
        let key: PagePlace | null = null
        let pages = 0
        do {
          const { records, next }: ReturnType<typeof page> = page(filter, { limit, after: key })
          walked.push(...records.map(({ n }) => n))
          assert.ok(records.length === limit || next === null)
          pages += 1
          key = next
        } while (key !== null)
        assert.deepEqual(walked, all)
        // D11: no page comes after the last record.
        assert.equal(pages, Math.max(1, Math.ceil(all.length / limit)))
      }
    })
  }

  test('D16: a filter cannot reach records before the cursor', () => {
    for (const filter of ['1 = 1', 'n = 1 OR 1 = 1', 'NOT 0 OR n < 3', 'n < 3 OR (SELECT 1)']) {
      assert.deepEqual(numbers(filter, { after: at(38) }), [39, 40], filter)
    }
  })

  test('D12: a page has the requested fields, in that order and typed', () => {
    const { records, next } = page('n = 3', { fields: ['id', 'done', 'tags'] })
    assert.deepEqual(records, [{ id: 'r003', done: true, tags: [0, 't3'] }])
    assert.equal(next, null)
  })

  test('D16: a page stops at its last record and reads no later ones', () => {
    // Evaluated for the last record, these overflow.
    const trap = 'abs(CASE WHEN n = 40 THEN -9223372036854775808 ELSE n END) > 0'
    assert.deepEqual(numbers(trap, { limit: 3 }), [1, 2, 3])
    assert.deepEqual(numbers(`id BETWEEN 'r001' AND 'r999' AND ${trap}`, { limit: 3 }), [1, 2, 3])
    assert.deepEqual(
      numbers(`id > 'r001' AND id < 'r999' AND ${trap}`, { limit: 3, after: at(10) }),
      [11, 12, 13],
    )
    assert.deepEqual(numbers(`id >= 'r001' AND ${trap}`, { limit: 3, after: at(10) }), [11, 12, 13])
    assert.throws(
      () => numbers(trap),
      (error) => error instanceof QueryError && /integer overflow/.test(error.message),
    )
  })

  test('D16: a refused filter has a message with the error', () => {
    const refusals: readonly (readonly [string, RegExp])[] = [
      ['foo = 1', /no such column: foo/],
      ['n = 1) OR (1 = 1', /near "\)": syntax error/],
      ['n > 1 -- all', /comment/],
      ['n = ?', /placeholders: \?/],
      ['n = 1; SELECT 1', /semicolon/],
      ['count(*) > 1', /misuse of aggregate/],
      ['EXISTS (SELECT 1 FROM sqlite_master)', /"sqlite_master" cannot be read/],
    ]
    for (const [filter, words] of refusals) {
      assert.throws(
        () => page(filter),
        (error) => error instanceof QueryError && words.test(error.message),
        filter,
      )
    }
  })

  test('D16: a filter sees the columns of a new field', () => {
    sheet.writer.exec('ALTER TABLE "$data" ADD COLUMN late TEXT; DROP VIEW records')
    sheet.writer.exec('CREATE VIEW records AS SELECT id, n, done, tags, late FROM "$data"')
    const writer = new ResultWriter(() => undefined)
    const allFields = [...FIELDS, field('late', 'string')]
    const run = {
      ...UNSORTED,
      limit: 1,
      after: null,
      fields: allFields,
      allFields,
      filter: 'late IS NULL AND n > 5',
    }
    assert.deepEqual(runPage(database, run, writer), { key: 6, values: [] })
  })
})

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { listRecords } from '../../src/sheet/queries/list-records.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import type { Random } from '../../src/store/suite/support/random.ts'
import { contractText } from '../support/contract-with.ts'
import { FilterGrammar } from '../support/filter-grammar.ts'
import { letsThrough, type Row, type Value } from '../support/filter-model.ts'
import { FilterText } from '../support/filter-text.ts'
import { fuzzRun } from '../support/fuzz.ts'
import { openTestSheet } from '../support/sheet-fixture.ts'

const RECORDS = 60

/** Concurrent filters. */
const AT_ONCE = 4

const FIELDS = {
  integers: ['n', 'm'],
  reals: ['price', 'weight'],
  texts: ['id', 'title', 'day', 'at', 'hour', 'tags', 'details'],
  booleans: ['done', 'late'],
} as const

const CONTRACT = contractText([
  '{name: n, logicalType: integer}',
  '{name: m, logicalType: integer}',
  '{name: price, logicalType: number}',
  '{name: weight, logicalType: number}',
  '{name: title, logicalType: string}',
  '{name: day, logicalType: date}',
  '{name: at, logicalType: timestamp}',
  '{name: hour, logicalType: time}',
  '{name: tags, logicalType: array}',
  '{name: details, logicalType: object}',
  '{name: done, logicalType: boolean}',
  '{name: late, logicalType: boolean}',
])

const { count, random, again } = fuzzRun({ test: 300, fuzz: 50_000 })

suite('random filters', { timeout: 10 * 60_000 }, () => {
  test(`D11, D16: ${count} random filters match the same records as a simple evaluator, page by page`, async (t) => {
    const records = Array.from({ length: RECORDS }, (_, index) => randomRecord(random, index))
    const sheet = await openTestSheet(t, { contract: CONTRACT, records, derivations: {} })
    const rows = records.map(asRow)
    const filters = randomFilters()
    let through = 0
    const workers = Array.from({ length: AT_ONCE }, async () => {
      for (const { filter, text, limit } of filters) {
        const expected = rows.filter((row) => letsThrough(filter, row)).map(({ id }) => id)
        through += expected.length
        const { ids, pages } = await walk(sheet, text, limit)
        assert.deepEqual(ids, expected, `limit ${limit}: ${text}\n${again}`)
        assert.equal(pages, Math.max(1, Math.ceil(expected.length / limit)), text)
      }
    })
    await Promise.all(workers)
    // Neither all of them nor none.
    const share = through / (count * RECORDS)
    assert.ok(share > 0.1 && share < 0.9, `let through ${share}`)
  })
})

function* randomFilters() {
  const grammar = new FilterGrammar(random, FIELDS)
  const writer = new FilterText(random)
  for (let number = 0; number < count; number += 1) {
    const filter = grammar.condition(random.below(5))
    yield { filter, text: writer.write(filter), limit: random.pick([7, 19, 25, 59, 60]) }
  }
}

/** The ids of all pages in their order; every page but the last is full. */
async function walk(sheet: Sheet, filter: string, limit: number): Promise<{ ids: unknown[]; pages: number }> {
  const ids: unknown[] = []
  let cursor: string | null = null
  let pages = 0
  do {
    const page = await listRecords(sheet, { fields: ['id'], limit, cursor, filter, asOf: null })
    const records = JSON.parse(String(page.records)) as readonly { id: string }[]
    assert.ok(records.length === limit || page.nextCursor === null, filter)
    ids.push(...records.map(({ id }) => id))
    cursor = page.nextCursor
    pages += 1
  } while (cursor !== null)
  return { ids, pages }
}

function randomRecord({ below, chance, pick }: Random, index: number): JsonObject & { id: string } {
  const orNull = <T>(value: T): T | null => (chance(0.25) ? null : value)
  return {
    // Not in the order of their creation.
    id: `r${(index * 37) % RECORDS}`,
    n: orNull(below(12) - 3),
    m: orNull(below(6)),
    price: orNull(below(40) / 4 - 2),
    weight: orNull(below(10)),
    title: orNull(pick(['', 'a', 'b', 'ab', 'AB', 'éa', 'É', '😀b', "it's", '10', '9', '(', 'z z'])),
    day: orNull(`2024-0${1 + below(9)}-1${below(10)}`),
    at: orNull(`2024-01-0${1 + below(9)}T10:00:00Z`),
    hour: orNull(`1${below(10)}:00:00`),
    tags: orNull(pick([[], ['a'], [1, 'b']])),
    details: orNull(pick([{}, { a: 1 }, { b: [null] }])),
    done: orNull(chance(0.5)),
    late: orNull(chance(0.3)),
  }
}

/** As the columns hold it: whole and other numbers apart, truth as a number, structures as their JSON text. */
function asRow(record: JsonObject): Row {
  const reals: readonly string[] = FIELDS.reals
  const stored = ([name, value]: [string, unknown]): [string, Value] => {
    if (value === null || typeof value === 'string') return [name, value]
    if (typeof value === 'boolean') return [name, value ? 1n : 0n]
    if (typeof value === 'number') return [name, reals.includes(name) ? value : BigInt(value)]
    return [name, JSON.stringify(value)]
  }
  return Object.fromEntries(Object.entries(record).map(stored))
}

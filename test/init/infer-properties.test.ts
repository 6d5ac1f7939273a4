import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { jsonEqual, type JsonObject, type JsonValue } from '../../src/contract/json/json.ts'
import { EXPORTABLE, exportTo } from '../support/export-file.ts'
import { initFrom, recordsOf, scratch } from '../support/init-files.ts'
import { fuzzRun } from '../support/fuzz.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { initSheet } from '../../src/sheet/lifecycle/init-sheet.ts'
import type { Random } from '../../src/store/suite/support/random.ts'

const WORDS = [
  '',
  ' ',
  'a',
  'Ann',
  'n/a',
  'ü',
  '日本',
  '"',
  "'",
  ',',
  '=1+1',
  'true',
  'null',
  '-',
  '+1',
  '007',
  'a b',
  '[',
  '{}',
  'x'.repeat(80),
]
const NUMBERS = ['0', '-1', '42', '1.5', '-0', '1e3', '9007199254740993', '1e999', '0.10', '٣']
const MOMENTS = ['2024-02-29', '2024-02-30', '2024-01-01T10:00:00Z', '2024-01-01 10:00', '10:30', '24:00']
const NAMES = [
  'id',
  'ID',
  'Id ',
  'name',
  'Name',
  'größe',
  'a b',
  'a-b',
  'a_b',
  'true',
  'select',
  '1',
  '日',
  'order no',
  'code',
]

/** A value as files have them, of a pool that a column keeps to, mostly. */
function valueOf(random: Random, pool: number, typed: boolean): JsonValue {
  const kind = random.chance(0.03) ? random.below(7) : pool
  switch (kind) {
    case 0:
      return random.pick(WORDS)
    case 1:
      return typed ? random.below(1000) - 500 : String(random.below(1000) - 500)
    case 2:
      return random.pick(NUMBERS)
    case 3:
      return random.pick(MOMENTS)
    case 4:
      return typed ? random.chance(0.5) : random.pick(['true', 'false'])
    case 5:
      return `k${random.below(1_000_000)}`
    default:
      return typed ? nestedOf(random, 2) : JSON.stringify(nestedOf(random, 2))
  }
}

function nestedOf(random: Random, depth: number): JsonValue {
  if (depth === 0) return random.pick<JsonValue>([null, 1, 2.5, true, 'x', '2024-01-01', ''])
  const items = Array.from({ length: random.below(4) }, () => nestedOf(random, depth - 1))
  return random.chance(0.5)
    ? items
    : Object.fromEntries(items.map((item, index) => [random.pick(['a', 'b', `k${index}`]), item]))
}

function randomRecords(random: Random, typed: boolean): JsonObject[] {
  const names = NAMES.filter(() => random.chance(0.4))
  const columns = names.map((name) => ({ name, pool: random.below(7), gaps: random.chance(0.3) ? 0.2 : 0 }))
  return Array.from({ length: random.below(40) }, () =>
    Object.fromEntries(
      columns.flatMap(({ name, pool, gaps }) =>
        random.chance(gaps) ? [] : [[name, valueOf(random, pool, typed)]],
      ),
    ),
  )
}

function csvOf(records: readonly JsonObject[]): string {
  const names = [...new Set(records.flatMap((record) => Object.keys(record)))]
  const quote = (value: JsonValue | undefined): string =>
    value === undefined ? '' : `"${String(value).replaceAll('"', '""')}"`
  return [names.map(quote), ...records.map((record) => names.map((name) => quote(record[name])))]
    .map((cells) => `${cells.join(',')}\n`)
    .join('')
}

test('the inferred contract of a file accepts the file, whatever its contents', async (t) => {
  const { count, random, again } = fuzzRun({ test: 15, fuzz: 300 })
  const root = await scratch(t)
  for (let round = 0; round < count; round += 1) {
    const typed = random.chance(0.5)
    const records = randomRecords(random, typed)
    const content = typed ? records.map((record) => `${JSON.stringify(record)}\n`).join('') : csvOf(records)
    // A file of CSV without a column is none.
    if (!typed && content === '\n') continue
    const what = `round ${round}; ${again}\n${content.slice(0, 3000)}`
    // The names are such as values have, too.
    const read = typed ? {} : { header: true, skip: 0 }
    const { report, directory } = await initFrom(root, [typed ? 'data.ndjson' : 'data.csv', content], {
      read,
    }).catch((error: unknown) => {
      throw new Error(what, { cause: error })
    })
    const sheet = await openSheet(directory)
    try {
      const stored = await recordsOf(sheet)
      assert.equal(stored.length, report.records, what)
      assert.equal(stored.length, records.length, what)
      for (const [index, record] of records.entries()) {
        assertKept(record, stored[index] ?? {}, { fields: report.fields ?? [], typed, what })
      }
    } finally {
      await sheet.close()
      await rm(directory, { recursive: true })
    }
  }
})

interface Kept {
  readonly fields: readonly {
    readonly field: string
    readonly column: string | null
    readonly type: string
  }[]
  readonly typed: boolean
  readonly what: string
}

/** The words above that count as no value in a column of another type. */
const MISSING = ['n/a', 'null']

/** Returns the value that a cell of a type other than text represents. */
function meaningOf(cell: string, type: string): JsonValue {
  if (type === 'date' || type === 'time') return cell
  if (type === 'timestamp') {
    if (cell.length === 10) return `${cell}T00:00:00Z`
    return cell.includes('T') ? cell : `${cell.replace(' ', 'T')}:00Z`
  }
  return JSON.parse(type === 'boolean' ? cell.toLowerCase() : cell) as JsonValue
}

/** Nothing of a value is lost, but how a number was written, and cells with nothing but spaces. */
function assertKept(record: JsonObject, stored: JsonObject, { fields, typed, what }: Kept): void {
  for (const { field, column, type } of fields) {
    if (column === null) continue
    // Readers of CSV take away the spaces around a column's name.
    const name = Object.keys(record).find((key) => key === column || (!typed && key.trim() === column))
    const before = (name === undefined ? null : record[name]) ?? null
    const after = stored[field] ?? null
    const place = `${column} ${JSON.stringify(before)} -> ${JSON.stringify(after)}; ${what}`
    if (type !== 'string' && MISSING.includes(String(before))) {
      assert.equal(after, null, place)
    } else if (typed && type === 'timestamp' && before !== null) {
      assert.equal(after, meaningOf(String(before), type), place)
    } else if (typed || type === 'string') {
      const text =
        type === 'string' && typeof before !== 'string' && before !== null ? JSON.stringify(before) : before
      assert.ok(jsonEqual(after, text) || (before === '' && after === null), place)
    } else if (typeof before === 'string' && before.trim() === '') {
      assert.equal(after, null, place)
    } else if (before !== null) {
      const read = meaningOf(String(before), type)
      assert.ok(jsonEqual(after, read) || (after === 0 && read === 0), place)
    }
  }
}

test('an export becomes a sheet with the same records, in each format', async (t) => {
  const { count, random, again } = fuzzRun({ test: 2, fuzz: 20 })
  for (let round = 0; round < count; round += 1) {
    const root = await scratch(t)
    const records = randomRecords(random, true)
    const content = records.map((record) => `${JSON.stringify(record)}\n`).join('')
    const { directory } = await initFrom(root, ['data.ndjson', content])
    const sheet = await openSheet(directory)
    try {
      const before = await recordsOf(sheet)
      for (const format of EXPORTABLE) {
        const file = await exportTo(sheet, format, root)
        const target = join(root, format)
        const contract = { path: join(directory, 'contract.yaml'), name: 'contract.yaml' }
        await initSheet(
          target,
          {
            kind: 'contract',
            contract,
            schema: null,
            key: null,
            // An export has a pair of quotes for an empty text.
            data: { file, format, ...(format === 'csv' && { read: { blank: 'empty' } }) },
          },
          { actor: null },
        )
        const copy = await openSheet(target)
        try {
          assert.deepEqual(await recordsOf(copy), before, `${format}, round ${round}; ${again}`)
        } finally {
          await copy.close()
        }
      }
    } finally {
      await sheet.close()
    }
  }
})

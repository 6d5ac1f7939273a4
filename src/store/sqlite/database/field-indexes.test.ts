import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, suite, test } from 'node:test'
import { contractText } from '../../../../test/support/contract-with.ts'
import { parseContract } from '../../../contract/odcs/parse-contract.ts'
import type { PagePlace, SortKey } from '../../sheet-store.ts'
import { PATIENT_LIMITS } from '../../suite/support/patient-limits.ts'
import { SqliteStore } from '../sqlite-store.ts'

const PLAIN = ['{name: n, logicalType: integer}', '{name: word, logicalType: string, unique: true}']
const INDEXED = [
  '{name: n, logicalType: integer, x-indexed: true}',
  '{name: word, logicalType: string, unique: true, x-indexed: true}',
  '{name: moment, logicalType: timestamp, x-indexed: true}',
]

/** Far more than a page, and than are scanned before an index is considered. */
const COUNT = 12_000

suite('indexes of fields', () => {
  const directory = mkdtempSync(join(tmpdir(), 'colophon-indexes-'))
  let store: SqliteStore

  before(async () => {
    store = await SqliteStore.open(directory, {
      definition: { contract: parseContract(contractText(INDEXED)), targets: [] },
      actor: 'human:ann',
      lockTimeoutMs: 1000,
      queryLimits: PATIENT_LIMITS,
      onSourceDiffers: () => undefined,
    })
    const records = Array.from({ length: COUNT }, (_, n) => ({
      id: `r${n}`,
      n,
      word: `w${String(n).padStart(5, '0')}`,
      moment: new Date(n * 1000).toISOString(),
    }))
    await store.upsert({ body: { records }, actor: 'human:ann', defaultActor: null, ifMatch: null })
  })

  after(async () => {
    await store.close()
    rmSync(directory, { recursive: true })
  })

  interface Asked {
    readonly filter: string | null
    readonly sort?: readonly SortKey[]
    readonly after?: PagePlace | null
    readonly skip?: number
  }

  async function numbers({ filter, sort = [], after: place = null, skip = 0 }: Asked): Promise<number[]> {
    const page = await store.page({ fields: ['n'], limit: 3, filter, sort, after: place, skip })
    return (JSON.parse(String(page.records)) as { n: number }[]).map(({ n }) => n)
  }

  /** Fails where it is evaluated for a record that must not be read. */
  const onlyReading = (from: number, to: number): string =>
    `abs(CASE WHEN n BETWEEN ${from} AND ${to} THEN 1 ELSE -9223372036854775808 END) > 0`

  test('a page sorted by an indexed field looks at no records but its own and the next', async () => {
    for (const field of ['n', 'word', 'moment']) {
      const up = [{ field, descending: false }]
      const down = [{ field, descending: true }]
      assert.deepEqual(await numbers({ filter: onlyReading(0, 3), sort: up }), [0, 1, 2], field)
      assert.deepEqual(
        await numbers({ filter: onlyReading(COUNT - 4, COUNT - 1), sort: down }),
        [COUNT - 1, COUNT - 2, COUNT - 3],
        field,
      )
    }
  })

  test('so does the last page, and one in the middle', async () => {
    const sort = [{ field: 'n', descending: false }]
    for (const at of [6000, COUNT - 5]) {
      const place = { key: at + 1, values: [at] }
      const filter = onlyReading(at, at + 4)
      assert.deepEqual(await numbers({ filter, sort, after: place }), [at + 1, at + 2, at + 3])
    }
  })

  test('a filter on a range of an indexed field reads the first records and those in the range', async () => {
    const found = `n >= 9000 AND CASE WHEN n BETWEEN 5001 AND 8999 THEN abs(-9223372036854775808) ELSE 1 END`
    assert.deepEqual(await numbers({ filter: found }), [9000, 9001, 9002])
    assert.deepEqual(await numbers({ filter: found, skip: 2 }), [9002, 9003, 9004])
    assert.deepEqual(await numbers({ filter: 'n < 3 OR n > 11990' }), [0, 1, 2])
    assert.deepEqual(await numbers({ filter: "word > 'w11997'" }), [11_998, 11_999])
    assert.deepEqual(await numbers({ filter: 'n > 4998 AND n <> 4999' }), [5000, 5001, 5002])
  })

  test('a broad range of which few records match is searched in parts, page by page', async () => {
    for (const filter of [
      'n >= 0 AND n % 40 = 5',
      'n > 6000 AND n % 1000 = 7',
      "n >= 0 AND word LIKE '%99'",
    ]) {
      const wanted = Array.from({ length: COUNT }, (_, n) => n).filter((n) =>
        filter.includes('40')
          ? n % 40 === 5
          : filter.includes('1000')
            ? n > 6000 && n % 1000 === 7
            : n % 100 === 99,
      )
      for (const limit of [3, 250, 9999]) {
        const walked: number[] = []
        for (let place: PagePlace | null = null; ;) {
          const page = await store.page({ fields: ['n'], limit, filter, sort: [], after: place, skip: 0 })
          walked.push(...(JSON.parse(String(page.records)) as { n: number }[]).map(({ n }) => n))
          place = page.next
          if (place === null) break
        }
        assert.deepEqual(walked, wanted, `${filter}, ${limit} at a time`)
      }
    }
  })

  test('the table has exactly the indexes of the contract', async () => {
    const indexesWith = async (properties: readonly string[]): Promise<readonly unknown[]> => {
      await store.define({ contract: parseContract(contractText(properties)), targets: [] })
      const db = new DatabaseSync(join(directory, 'sheet.db'), { readOnly: true })
      try {
        const sql = `SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = '$data' AND sql IS NOT NULL ORDER BY name`
        return db
          .prepare(sql)
          .all()
          .map(({ name }) => name)
      } finally {
        db.close()
      }
    }
    const [, , moment = ''] = INDEXED
    assert.deepEqual(await indexesWith(INDEXED), [
      '$index_moment',
      '$index_n',
      '$moment_moment',
      '$unique_word',
    ])
    assert.deepEqual(await indexesWith([...PLAIN, moment.replace(', x-indexed: true', '')]), ['$unique_word'])
    assert.deepEqual(await indexesWith(INDEXED), [
      '$index_moment',
      '$index_n',
      '$moment_moment',
      '$unique_word',
    ])
    await store.delete(
      Array.from({ length: COUNT }, (_, n) => `r${n}`),
      'human:ann',
    )
    assert.deepEqual(await indexesWith(PLAIN), ['$unique_word'])
    assert.deepEqual(await indexesWith(INDEXED.map((property) => property.replace('integer', 'number'))), [
      '$index_moment',
      '$index_n',
      '$moment_moment',
      '$unique_word',
    ])
  })
})

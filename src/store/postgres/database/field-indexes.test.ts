import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { contractText, contractWith } from '../../../../test/support/contract-with.ts'
import { startPostgres } from '../../../../test/support/postgres.ts'
import { parseContract } from '../../../contract/odcs/parse-contract.ts'
import type { PagePlace, SortKey } from '../../sheet-store.ts'
import { Database } from './database.ts'
import { PostgresStore } from '../postgres-store.ts'
import { PATIENT_LIMITS } from '../../suite/support/patient-limits.ts'
import { parseStoreUrl } from './store-url.ts'

const PLAIN = ['{name: n, logicalType: integer}', '{name: word, logicalType: string, unique: true}']
const INDEXED = [
  '{name: n, logicalType: integer, x-indexed: true}',
  '{name: word, logicalType: string, unique: true, x-indexed: true}',
  '{name: moment, logicalType: timestamp, x-indexed: true}',
  '{name: half, logicalType: boolean, x-indexed: true}',
  '{name: code, logicalType: string, unique: true}',
]

const COUNT = 12_000

/** PostgreSQL may read a few more records than a page has. */
const FEW = 40

suite('indexes of fields', () => {
  let store: PostgresStore
  let url: string
  let database: Database

  before(async () => {
    const server = await startPostgres()
    url = server.freshUrl()
    database = new Database(parseStoreUrl(url))
    store = await open(INDEXED)
    const records = Array.from({ length: COUNT }, (_, n) => ({
      id: `r${String(n).padStart(5, '0')}`,
      n,
      word: `w${String(n).padStart(5, '0')}`,
      moment: new Date(n * 1000).toISOString(),
      half: n >= COUNT / 2,
      code: `c${String(n).padStart(5, '0')}`,
    }))
    await store.upsert({ body: { records }, actor: 'human:ann', defaultActor: null, ifMatch: null })
    // The store does the same in the background, perhaps later.
    await database.exec('ANALYZE "$data"')
  })

  after(async () => {
    await store.close()
    await database.close()
  })

  function open(properties: readonly string[]): Promise<PostgresStore> {
    return PostgresStore.open(url, {
      definition: { contract: contractWith(...properties), targets: [] },
      directory: null,
      actor: 'human:ann',
      lockTimeoutMs: 1000,
      queryLimits: PATIENT_LIMITS,
      onSourceDiffers: () => undefined,
    })
  }

  interface Asked {
    readonly filter: string | null
    readonly sort?: readonly SortKey[]
    readonly after?: PagePlace | null
    readonly skip?: number
    readonly limit?: number
  }

  async function numbers({
    filter,
    sort = [],
    after: place = null,
    skip = 0,
    limit = 3,
  }: Asked): Promise<number[]> {
    const page = await store.page({ fields: ['n'], limit, filter, sort, after: place, skip })
    return (JSON.parse(String(page.records)) as { n: number }[]).map(({ n }) => n)
  }

  /** Fails where it is evaluated for a record that must not be read. */
  const onlyReading = (from: number, to: number): string =>
    `CASE WHEN n BETWEEN ${from} AND ${to} THEN true ELSE 1 / (n - n) = 0 END`

  test('a page sorted by an indexed or unique field, from either end, looks at few records', async () => {
    for (const field of ['n', 'word', 'moment', 'code', 'id']) {
      const up = [{ field, descending: false }]
      const down = [{ field, descending: true }]
      assert.deepEqual(await numbers({ filter: onlyReading(0, FEW), sort: up }), [0, 1, 2], field)
      assert.deepEqual(
        await numbers({ filter: onlyReading(COUNT - FEW, COUNT - 1), sort: down }),
        [COUNT - 1, COUNT - 2, COUNT - 3],
        field,
      )
    }
  })

  test('so does the last page, and one in the middle, in either direction', async () => {
    const places = {
      n: (at: number) => at,
      word: (at: number) => `w${String(at).padStart(5, '0')}`,
      moment: (at: number) => at * 1000,
      code: (at: number) => `c${String(at).padStart(5, '0')}`,
      id: (at: number) => `r${String(at).padStart(5, '0')}`,
    }
    for (const [field, value] of Object.entries(places)) {
      for (const at of [6000, COUNT - 5]) {
        const place = { key: at + 1, values: [value(at)] }
        const up = { sort: [{ field, descending: false }], after: place }
        assert.deepEqual(
          await numbers({ ...up, filter: onlyReading(at, at + FEW) }),
          [at + 1, at + 2, at + 3],
          field,
        )
        const down = { sort: [{ field, descending: true }], after: place }
        assert.deepEqual(
          await numbers({ ...down, filter: onlyReading(at - FEW, at) }),
          [at - 1, at - 2, at - 3],
          field,
        )
      }
    }
  })

  test('so does a page among very many records of one value', async () => {
    const sort = [{ field: 'half', descending: false }]
    const place = { key: 3001, values: ['false'] }
    assert.deepEqual(
      await numbers({ filter: onlyReading(3000, 3000 + FEW), sort, after: place }),
      [3001, 3002, 3003],
    )
  })

  test('a second field sorts only those that are equal in the first', async () => {
    const sort = [
      { field: 'n', descending: false },
      { field: 'word', descending: true },
    ]
    assert.deepEqual(await numbers({ filter: onlyReading(0, FEW), sort }), [0, 1, 2])
    const place = { key: 6001, values: [6000, 'w06000'] }
    assert.deepEqual(
      await numbers({ filter: onlyReading(6000, 6000 + FEW), sort, after: place }),
      [6001, 6002, 6003],
    )
  })

  test('a filter on an indexed field alone reads only the records that match', async () => {
    for (const [filter, wanted] of [
      ['n = 9000', [9000]],
      ['n BETWEEN 8998 AND 9001', [8998, 8999, 9000]],
      ["word = 'w09000'", [9000]],
      ["word > 'w11997'", [11_998, 11_999]],
      ["word LIKE 'w0900%'", [9000, 9001, 9002]],
      ["code = 'c09000'", [9000]],
      ["code >= 'c09000' AND code < 'c09003'", [9000, 9001, 9002]],
      ["id = 'r09000'", [9000]],
      ["moment = '1970-01-01T02:30:00Z'", [9000]],
      ["moment > '1970-01-01T03:19:56Z'", [11_997, 11_998, 11_999]],
    ] as const) {
      assert.deepEqual(
        await numbers({ filter: `${filter} AND ${onlyReading(wanted[0] - FEW, COUNT)}` }),
        wanted,
        filter,
      )
    }
  })

  test('texts of any length are stored, found and sorted beside those that the index has', async () => {
    const long = (letter: string): string => letter + 'ab'.repeat(500) + 'é'.repeat(200_000) + letter
    const records = ['w05000z', 'w', 'zz'].flatMap((letter, index) => [
      { id: `long${index}`, n: COUNT + 2 * index, word: long(letter) },
      { id: `longer${index}`, n: COUNT + 2 * index + 1, word: `${long(letter)}!` },
    ])
    await store.upsert({ body: { records }, actor: 'human:ann', defaultActor: null, ifMatch: null })
    try {
      const twice = { records: [{ id: 'again', n: 1, word: long('w') }] }
      await assert.rejects(
        store.upsert({ body: twice, actor: 'human:ann', defaultActor: null, ifMatch: null }),
        /unique/,
      )
      const wanted = Array.from({ length: COUNT }, (_, n) => n)
      wanted.splice(5001, 0, COUNT, COUNT + 1)
      // "wab…" comes behind "w11999".
      wanted.push(COUNT + 2, COUNT + 3, COUNT + 4, COUNT + 5)
      for (const descending of [false, true]) {
        const order = descending ? wanted.toReversed() : wanted
        const sort = [{ field: 'word', descending }]
        const walked: number[] = []
        for (let place: PagePlace | null = null; ;) {
          const page = await store.page({
            fields: ['n'],
            limit: 4999,
            filter: null,
            sort,
            after: place,
            skip: 0,
          })
          walked.push(...(JSON.parse(String(page.records)) as { n: number }[]).map(({ n }) => n))
          place = page.next
          if (place === null) break
        }
        assert.deepEqual(walked, order)
        for (const skip of [4999, 5000, 5001, COUNT + 2, COUNT + 4]) {
          assert.deepEqual(
            await numbers({ filter: null, sort, skip }),
            order.slice(skip, skip + 3),
            `${skip}`,
          )
        }
      }
      assert.deepEqual(await numbers({ filter: `word = '${long('zz')}'` }), [COUNT + 4])
    } finally {
      await store.delete(
        records.map(({ id }) => id),
        'human:ann',
      )
    }
  })

  test('a changed contract is in use while its indexes wait for a transaction of others', async () => {
    const other = await database.dedicated()
    const hasIndex = async (): Promise<boolean> =>
      (await database.get(`SELECT FROM pg_class WHERE relname = '$index_half'`)) !== undefined
    const properties = INDEXED.map((text) => text.replace('boolean, x-indexed: true', 'boolean'))
    await other.query('BEGIN')
    try {
      await other.query('LOCK TABLE "$data" IN ROW EXCLUSIVE MODE')
      await store.changeDefinition({
        proposal: null,
        definition: { contract: contractWith(...properties), targets: [] },
        files: [],
        base: [],
        present: [],
        outdated: new Map(),
        formulas: [],
        actor: 'human:ann',
        note: null,
        reverts: null,
        dryRun: false,
      })
      assert.equal(await hasIndex(), true)
    } finally {
      await other.query('ROLLBACK')
      await other.end()
    }
    while (await hasIndex());
    await store.define({ contract: contractWith(...INDEXED), targets: [] })
    while (!(await hasIndex()));
  })

  test('records without a value come last, page by page', async () => {
    const none = ['x', 'y', 'z'].map((id, index) => ({ id, n: COUNT + index }))
    await store.upsert({ body: { records: none }, actor: 'human:ann', defaultActor: null, ifMatch: null })
    try {
      for (const descending of [false, true]) {
        const sort = [{ field: 'word', descending }]
        const last = descending ? [0, COUNT + 2, COUNT + 1, COUNT] : [COUNT - 1, COUNT, COUNT + 1, COUNT + 2]
        assert.deepEqual(await numbers({ filter: null, sort, skip: COUNT - 1, limit: 9 }), last)
        assert.deepEqual(await numbers({ filter: null, sort, skip: COUNT + 1 }), last.slice(2))
        const place = { key: COUNT * 9, values: [null] }
        assert.deepEqual(await numbers({ filter: null, sort, after: place }), descending ? last.slice(1) : [])
      }
    } finally {
      await store.delete(
        none.map(({ id }) => id),
        'human:ann',
      )
    }
  })

  test('records are read and written while an index of many of them is made', async () => {
    const more = [...INDEXED, '{name: size, logicalType: integer}']
    await store.define({ contract: contractWith(...more), targets: [] })
    const other = await open(more)
    try {
      const defined = await database.reading(async (db) => {
        await db.get('SELECT count(*) FROM "$data"')
        const indexed = more.map((property) =>
          property.replace('size, logicalType: integer', '$&, x-indexed: true'),
        )
        const defining = store.define({ contract: contractWith(...indexed), targets: [] })
        // Until it waits for the reader to end.
        for (let begun: unknown; begun === undefined;) {
          begun = await database.get(`SELECT 1 FROM pg_class WHERE relname = '$index_size'`)
        }
        const body = { records: [{ id: 'r00000', size: 7 }] }
        await other.upsert({ body, actor: 'human:ann', defaultActor: null, ifMatch: null })
        await store.upsert({ body, actor: 'human:ann', defaultActor: null, ifMatch: null })
        assert.equal(String((await other.record('r00000', ['size']))?.json), '{"size":7}')
        return { defining }
      })
      await defined.defining
      assert.deepEqual(await numbers({ filter: `size = 7 AND ${onlyReading(0, FEW)}` }), [0])
    } finally {
      await other.close()
    }
  })

  test('the table has exactly the indexes of the contract', async () => {
    const indexes = async (): Promise<readonly unknown[]> => {
      const rows = await database.all(
        `SELECT relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
         WHERE indrelid = '"$data"'::regclass AND indisvalid ORDER BY relname`,
      )
      return rows.map(({ relname }) => relname).filter((name) => name !== '$id' && name !== '$data_pkey')
    }
    const indexesWith = async (properties: readonly string[]): Promise<readonly unknown[]> => {
      const size = '{name: size, logicalType: integer}'
      await store.define({ contract: parseContract(contractText([...properties, size])), targets: [] })
      return indexes()
    }
    const all = [
      '$index_half',
      '$index_moment',
      '$index_n',
      '$long_code',
      '$long_word',
      '$moment_moment',
      '$sort_code',
      '$sort_word',
      '$text_code',
      '$text_word',
    ]
    assert.deepEqual(await indexesWith(INDEXED), all)
    const bare = INDEXED.map((property) => property.replace(', x-indexed: true', ''))
    const unique = ['$long_code', '$long_word', '$sort_code', '$sort_word', '$text_code', '$text_word']
    assert.deepEqual(await indexesWith(bare), unique)
    // The state of a store from before these indexes, or with an incomplete one.
    await database.exec('CREATE INDEX "$unique_word" ON "$data" USING hash (word)')
    await database.exec('DROP INDEX "$text_word"')
    await (await open([...bare, '{name: size, logicalType: integer}'])).close()
    assert.deepEqual(await indexes(), unique)
    assert.deepEqual(await indexesWith(INDEXED), all)
    await store.delete(
      Array.from({ length: COUNT }, (_, n) => `r${String(n).padStart(5, '0')}`),
      'human:ann',
    )
    assert.deepEqual(await indexesWith(PLAIN), ['$long_word', '$sort_word', '$text_word'])
    assert.deepEqual(await indexesWith(INDEXED.map((property) => property.replace('integer', 'number'))), all)
  })
})

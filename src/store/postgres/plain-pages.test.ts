import assert from 'node:assert/strict'
import { after, before, suite, test, type TestContext } from 'node:test'
import { contractWith } from '../../../test/support/contract-with.ts'
import { startPostgres } from '../../../test/support/postgres.ts'
import { ClientConnection, type SqlInput } from './database/connection.ts'
import { Database } from './database/database.ts'
import { PostgresStore } from './postgres-store.ts'
import { BLOCK } from '../rows/deleted-blocks.ts'
import { PATIENT_LIMITS } from '../suite/support/patient-limits.ts'
import { parseStoreUrl } from './database/store-url.ts'

const COUNT = 9000

/** A step of how PostgreSQL has carried out a statement. */
interface PlanStep {
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly PlanStep[]
}

suite('the rows that PostgreSQL reads for a request', () => {
  let store: PostgresStore
  let other: PostgresStore
  let database: Database

  before(async () => {
    const url = (await startPostgres()).freshUrl()
    database = new Database(parseStoreUrl(url))
    const open = (): Promise<PostgresStore> =>
      PostgresStore.open(url, {
        definition: { contract: contractWith('{name: n, logicalType: integer}'), targets: [] },
        directory: null,
        actor: 'human:ann',
        lockTimeoutMs: 1000,
        queryLimits: PATIENT_LIMITS,
        onSourceDiffers: () => undefined,
      })
    store = await open()
    other = await open()
    const records = Array.from({ length: COUNT }, (_, n) => ({ id: `r${n}`, n }))
    await store.upsert({ body: { records }, actor: 'human:ann', defaultActor: null, ifMatch: null })
    await database.exec('ANALYZE')
  })

  after(async () => {
    await other.close()
    await store.close()
    await database.close()
  })

  /** Returns the number of rows of the sheet's tables that the statements of an operation read. */
  async function lookedAt(t: TestContext, work: () => Promise<unknown>): Promise<number> {
    const calls = t.mock.method(ClientConnection.prototype, 'all')
    await work()
    const statements = calls.mock.calls.map(({ arguments: given }) => given)
    calls.mock.restore()
    assert.notEqual(statements.length, 0)
    let rows = 0
    for (const [sql, ...params] of statements) {
      rows += sum(await plan(sql, params))
    }
    return rows
  }

  async function plan(sql: string, params: readonly SqlInput[]): Promise<PlanStep> {
    const row = await database.get(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${sql}`, ...params)
    const [explained] = JSON.parse(String(row?.['QUERY PLAN'])) as readonly { Plan: PlanStep }[]
    assert.ok(explained)
    return explained.Plan
  }

  function sum(step: PlanStep): number {
    const own =
      step['Relation Name'] === undefined
        ? 0
        : (step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0)) * step['Actual Loops']
    return (step['Plans'] ?? []).reduce((rows, inner) => rows + sum(inner), own)
  }

  for (const [name, key] of [
    ['the first page', 0],
    ['a page in the middle', COUNT / 2],
    ['the last page', COUNT - 3],
  ] as const) {
    test(`${name} is found without looking at other records`, async (t) => {
      const place = key === 0 ? null : { key, values: [] }
      const query = { fields: ['id', 'n'], limit: 3, filter: null, sort: [], after: place, skip: 0 }
      const rows = await lookedAt(t, () => store.page(query))
      assert.ok(rows > 2 && rows < 10, `${rows} rows`)
    })
  }

  test('so are a record by its id, and the counts of cell states', async (t) => {
    // The other is the one of `$sheet`.
    assert.equal(await lookedAt(t, () => store.record('r5000', ['n'])), 2)
    assert.equal(await lookedAt(t, () => store.status()), 1)
  })

  test('cached responses are read again only after a write of some server', async (t) => {
    const query = { fields: ['id', 'n'], limit: 3, filter: null, sort: [], after: null, skip: 0 }
    const reads = {
      record: async () => String((await store.record('r1', ['n']))?.json),
      page: async () => String((await store.page(query)).records),
    }
    const wanted = { record: '{"n":1}', page: '[{"id":"r0","n":0},{"id":"r1","n":1},{"id":"r2","n":2}]' }
    const write = async (n: number): Promise<void> => {
      const body = { records: [{ id: 'r1', n }] }
      await other.upsert({ body, actor: 'human:ann', defaultActor: null, ifMatch: null })
    }
    for (const which of ['record', 'page'] as const) {
      const read = reads[which]
      assert.equal(await read(), wanted[which])
      const one = await lookedAt(t, async () => assert.equal(await read(), wanted[which]))
      assert.equal(one, 1, 'the row of "$sheet" and no other')
      const many = await lookedAt(t, () => Promise.all(Array.from({ length: 64 }, read)))
      assert.ok(many <= 2, `64 reads at once ask ${many} times`)
      await write(7)
      assert.equal(await read(), wanted[which].replace('"n":1', '"n":7'))
      await write(1)
      assert.equal(await read(), wanted[which])
    }
    await other.delete(['r1'], 'human:ann')
    assert.equal(await store.record('r1', ['n']), null)
    assert.equal(await reads.page(), '[{"id":"r0","n":0},{"id":"r2","n":2},{"id":"r3","n":3}]')
  })

  test('servers that read and write concurrently never return data from before a write', async () => {
    await other.upsert({
      body: { records: [{ id: 'hot', n: 0 }] },
      actor: 'human:ann',
      defaultActor: null,
      ifMatch: null,
    })
    let written = 0
    const reading = Array.from({ length: 8 }, async () => {
      while (written < 100) {
        const least = written
        const { n } = JSON.parse(String((await store.record('hot', ['n']))?.json)) as { n: number }
        assert.ok(n >= least, `${n} after ${least} was written`)
      }
    })
    for (let n = 1; n <= 100; n += 1) {
      const body = { records: [{ id: 'hot', n }] }
      await other.upsert({ body, actor: 'human:ann', defaultActor: null, ifMatch: null })
      written = n
    }
    await Promise.all(reading)
  })

  test('a page at a position behind deleted records is found without reading them', async (t) => {
    const gone = Array.from({ length: 7000 }, (_, n) => `r${n + 1}`)
    await store.delete(gone, 'human:ann')
    await database.exec('ANALYZE')
    const query = { fields: ['id'], limit: 2, filter: null, sort: [], after: null, skip: 1 }
    const rows = await lookedAt(t, async () => {
      assert.equal(String((await store.page(query)).records), '[{"id":"r7001"},{"id":"r7002"}]')
    })
    // The start of the page is found among the counts of deleted records and the keys of one block.
    assert.ok(rows < 2 * BLOCK, `${rows} rows`)
  })
})

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startPostgres } from '../../../../test/support/postgres.ts'
import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import { RecordsPass } from '../../../derivation/plan/records-pass.ts'
import type { QueryResults, RecordsQuery } from '../../records-query.ts'
import { PATIENT_LIMITS } from '../../suite/support/patient-limits.ts'
import { TestSheet, type OpenStore } from '../../suite/support/test-sheet.ts'
import { PostgresStore } from '../postgres-store.ts'
import { SqlSession } from '../sql/sql-session.ts'

const server = await startPostgres()

const open: OpenStore = (_directory, { contract, targets, ...options }) =>
  PostgresStore.open(server.freshUrl(), {
    ...options,
    directory: null,
    definition: { contract, targets },
    queryLimits: PATIENT_LIMITS,
  })

const TYPES = {
  id: 'string',
  region: 'string',
  sales: 'number',
  count: 'integer',
  at: 'timestamp',
  day: 'date',
  tags: 'array',
} as const

const RECORDS: readonly JsonObject[] = Array.from({ length: 40 }, (_, index) => ({
  id: `r${index}`,
  region: index % 7 === 0 ? null : `R\u00e9gion "${index % 3}"`,
  sales: index % 5 === 0 ? null : index / 4,
  count: index % 4,
  at: index % 6 === 0 ? null : `2026-01-${String((index % 28) + 1).padStart(2, '0')}T10:00:00.5Z`,
  day: `2026-02-${String((index % 28) + 1).padStart(2, '0')}`,
  tags: index % 8 === 0 ? null : [index % 2, 'a'],
}))

async function openSheet(t: TestContext): Promise<TestSheet> {
  const properties = Object.entries(TYPES)
    .filter(([name]) => name !== 'id')
    .map(([name, type]) => `{name: ${name}, logicalType: ${type}}`)
  const sheet = await TestSheet.make(t, open, { properties })
  await sheet.write(RECORDS)
  return sheet
}

function queryOf(statement: string, targets: readonly string[] = ['result']): RecordsQuery {
  const typed = Object.entries(TYPES).map(([name, type]) => ({ name, type }))
  const inputs = typed.filter(({ name }) => statement.includes(`:${name}`))
  return {
    statement,
    listed: [],
    inputs,
    reads: typed,
    targets: targets.map((name) => ({ name, type: 'string' })),
  }
}

function compute({ store }: TestSheet, query: RecordsQuery): Promise<QueryResults> {
  const rows = RECORDS.map((record) => query.inputs.map(({ name }): JsonValue => record[name] ?? null))
  return store.queries.compute(query, rows, new RecordsPass(), new AbortController().signal)
}

/** Counts the statements that run a query. */
function countRuns(t: TestContext): () => number {
  const { mock } = t.mock.method(SqlSession.prototype, 'run')
  return () => mock.callCount()
}

const MANY = [
  'SELECT 1 + count(*) FROM records WHERE region = :region AND sales > :sales',
  'SELECT count(*) FILTER (WHERE sales > :sales) - :sales * 2 FROM records WHERE region = :region;',
  'SELECT sales FROM records WHERE count = :count AND sales IS NOT NULL ORDER BY sales DESC, id -- the highest',
  'SELECT id FROM records WHERE id = :id',
  'SELECT id FROM records WHERE region = :region AND count = :count',
  'SELECT max(at) FROM records WHERE at < :at',
  'SELECT jsonb_agg(tags ORDER BY id) FROM records WHERE tags = :tags AND day <= :day',
  'WITH same AS (SELECT * FROM records WHERE region = :region) SELECT string_agg(id, :id ORDER BY id) FROM same',
  'SELECT sum(total) FROM (SELECT count(*) AS total FROM records WHERE count >= :count GROUP BY region) AS grouped',
  'SELECT count FROM records WHERE id = :id UNION SELECT :count ORDER BY 1',
  'VALUES (:sales)',
  'SELECT id FROM records ORDER BY id LIMIT :count',
  'SELECT :day',
  'SELECT :tags',
  'SELECT upper(:region)',
  "SELECT 'Infinity'::float8 * :sales",
  'SELECT (SELECT max(b.sales) FROM records AS b WHERE b.count = a.count) FROM records AS a WHERE a.id = :id',
]

const ONE_BY_ONE = ['SELECT sum(:count) FROM records', 'SELECT count(*) FROM records']

test('a query has the same results for many records in a statement as for one', async (t) => {
  const sheet = await openSheet(t)
  // However slow the machine is, a statement is for as many records as it may be.
  t.mock.method(performance, 'now', () => 0)
  const runs = countRuns(t)
  for (const statement of [...MANY, ...ONE_BY_ONE]) {
    const before = runs()
    const together = await compute(sheet, queryOf(statement))
    const took = runs() - before
    if (MANY.includes(statement)) assert.equal(took, 4, statement)
    else assert.equal(took, RECORDS.length, statement)
    const alone = t.mock.method(SqlSession.prototype, 'tryParse', () => Promise.resolve(null))
    assert.deepEqual(together, await compute(sheet, queryOf(statement)), statement)
    alone.mock.restore()
  }
})

test('a query gets on however long each statement takes', async (t) => {
  const sheet = await openSheet(t)
  let now = 0
  t.mock.method(performance, 'now', () => (now += 10_000))
  const { rows } = await compute(sheet, queryOf('SELECT :count'))
  assert.deepEqual(
    rows.map((row) => row.ok && row.value?.['result']),
    RECORDS.map(({ count }) => count),
  )
})

test('several targets take the columns of their names in a statement for many records', async (t) => {
  const sheet = await openSheet(t)
  const query = queryOf('SELECT :sales AS b, count(*) AS a FROM records WHERE region = :region', ['a', 'b'])
  const { rows } = await compute(sheet, query)
  const same = RECORDS.filter(({ region }) => region === RECORDS[1]?.['region']).length
  assert.deepEqual(rows[1], { ok: true, value: { a: same, b: 0.25 } })
})

test('records for which a query fails do not fail the others of a statement', async (t) => {
  const sheet = await openSheet(t)
  const { rows } = await compute(sheet, queryOf('SELECT 12 / :count'))
  assert.deepEqual(
    rows.map((row) => (row.ok ? row.value?.['result'] : row.error)),
    RECORDS.map(({ count }) => (count === 0 ? 'division by zero' : 12 / Number(count))),
  )
})

test('rows that are too large together are computed by fewer records at a time', async (t) => {
  const sheet = await openSheet(t)
  const { rows } = await compute(sheet, queryOf("SELECT rpad('x', (60000 + :count)::integer, 'x')"))
  assert.deepEqual(
    rows.map((row) => row.ok && String(row.value?.['result']).length),
    RECORDS.map(({ count }) => 60_000 + Number(count)),
  )
})

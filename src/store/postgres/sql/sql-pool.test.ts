import assert from 'node:assert/strict'
import { after, before, suite, test, type TestContext } from 'node:test'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { createPostgresRecords, type PostgresRecords } from '../../../../test/support/postgres-records.ts'
import { field } from '../../../../test/support/sheet-database.ts'
import { QueryError } from '../../../errors/service-error.ts'
import type { PageRun } from './run-page.ts'
import { collectGarbage } from '../../sheet-files/collect-garbage.ts'
import { readerRole } from './reader-role.ts'
import { SqlConnection } from './sql-connection.ts'
import { MAX_ROW_BYTES } from './sql-limits.ts'
import type { SqlSession } from './sql-session.ts'
import { DEFAULT_QUERY_LIMITS, SqlPool, type SqlPoolOptions } from './sql-pool.ts'
import { SqlQueue } from './sql-queue.ts'

const FIELDS = [field('id', 'string'), field('n', 'integer')]

/** Runs longer than any test waits. */
const ENDLESS = 'SELECT count(*) FROM generate_series(1, 1000000000000) AS a(x)'

const ENDLESS_FILTER = '(SELECT count(*) FROM generate_series(1, 1000000000000) AS a(x)) > n'

suite('the connections for SQL from users', () => {
  let sheet: PostgresRecords

  before(async () => {
    sheet = await createPostgresRecords(FIELDS)
    await sheet.insert(...Array.from({ length: 10 }, (_, index) => ({ id: `r${index}`, n: index })))
  })

  after(() => sheet.close())

  function poolOf(
    t: TestContext,
    options: Partial<SqlPoolOptions> & { readonly timeoutMs?: number } = {},
  ): SqlPool {
    const { timeoutMs = 30_000, ...rest } = options
    const pool = new SqlPool({
      database: sheet.database,
      limits: { ...DEFAULT_QUERY_LIMITS, timeoutMs },
      ...rest,
    })
    t.after(() => pool.close())
    return pool
  }

  const query = (pool: SqlPool, sql: string, signal?: AbortSignal): Promise<Buffer> =>
    pool.query({ sql, params: [], allFields: FIELDS }, signal)

  const page = (pool: SqlPool, filter: string, signal?: AbortSignal): ReturnType<SqlPool['page']> => {
    const run: PageRun = {
      filter,
      fields: FIELDS,
      allFields: FIELDS,
      limit: 5,
      after: null,
      sort: [],
      skip: 0,
    }
    return pool.page(run, signal)
  }

  /** Returns the number of statements of users that PostgreSQL runs, and of connections for them. */
  async function atWork(): Promise<{ readonly running: number; readonly connections: number }> {
    const row = await sheet.database.get(
      `SELECT count(*) FILTER (WHERE state = 'active') AS running, count(*) AS connections
      FROM pg_stat_activity WHERE application_name = 'colophon sql'`,
    )
    return { running: Number(row?.['running']), connections: Number(row?.['connections']) }
  }

  /** Resolves when PostgreSQL runs this many; fails when that takes too long. */
  async function until(wanted: number): Promise<void> {
    for (let tries = 0; tries < 3000; tries += 1) {
      if ((await atWork()).running === wanted) return
      await sleep(20)
    }
    assert.equal((await atWork()).running, wanted)
  }

  test('a connection that is in use all the time keeps no result of earlier requests', async (t) => {
    const connection = await SqlConnection.open(sheet.database, DEFAULT_QUERY_LIMITS)
    t.after(() => connection.close())
    const run = async (): Promise<WeakRef<object>> => {
      const work = (): Promise<object> => Promise.resolve({})
      const result = await connection.run({ role: 'nobody', rowBytes: MAX_ROW_BYTES, work })
      await connection.rest()
      return new WeakRef(result)
    }
    const first = await run()
    await run()
    await setImmediate()
    collectGarbage()
    assert.equal(first.deref(), undefined)
  })

  test('D19: a query, page or summary past its deadline is a QueryError, and PostgreSQL stops it', async (t) => {
    const pool = poolOf(t, { timeoutMs: 300 })
    const words = /^the query took longer than 0\.3 s and was stopped$/
    const told = (error: unknown): boolean => error instanceof QueryError && words.test(error.message)
    await assert.rejects(query(pool, ENDLESS), told)
    await assert.rejects(page(pool, ENDLESS_FILTER), told)
    await assert.rejects(pool.summary({ filter: ENDLESS_FILTER, fields: [], allFields: FIELDS }), told)
    await until(0)
    assert.equal(String(await query(pool, 'SELECT 1 AS a')), '{"rows":[{"a":1}],"count":1}')
  })

  test('D19: statements that take PostgreSQL long to plan or to send are stopped as well', async (t) => {
    const pool = poolOf(t, { timeoutMs: 500 })
    const joined = Array.from({ length: 60 }, (_, index) => `records AS a${index}`).join(', ')
    for (const sql of [
      `SELECT count(*) FROM ${joined}`,
      'WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT max(x) FROM t',
      String.raw`SELECT regexp_replace(repeat('a', 99999) || 'b', '^(a+)(a+)\1\2b$', '')`,
      'SELECT power(1.0000001::numeric(30, 20), n * 1000000) FROM generate_series(1, 100000) AS a(n)',
    ]) {
      await assert.rejects(query(pool, sql), QueryError, sql)
    }
    await until(0)
  })

  test('D19: a statement that PostgreSQL cannot stop gets its response at the deadline, and uses its connection until it ends', async (t) => {
    const pool = poolOf(t, { timeoutMs: 200, maxWaitMs: 100 })
    const products = Array.from({ length: 15 }, () => 'x * x').join(' + ')
    const sql = `SELECT scale(${products}) FROM (SELECT repeat('9', 65000)::numeric AS x OFFSET 0) AS t`
    const stopped = Array.from({ length: 4 }, () =>
      assert.rejects(query(pool, sql), /took longer than 0.2 s/),
    )
    await Promise.all(stopped)
    await assert.rejects(query(pool, 'SELECT 1 AS a'), /too many queries at once/)
    await until(0)
    assert.equal(String(await query(pool, 'SELECT 1 AS a')), '{"rows":[{"a":1}],"count":1}')
  })

  test('an abandoned query is stopped, or removed from the queue', async (t) => {
    const pool = poolOf(t, { graceMs: 0 })
    const running = Array.from({ length: 4 }, () => new AbortController())
    const first = running.map(({ signal }) =>
      assert.rejects(query(pool, ENDLESS, signal), { name: 'AbortError' }),
    )
    await until(4)
    const waiting = new AbortController()
    const second = assert.rejects(query(pool, 'SELECT 1 AS a', waiting.signal), { name: 'AbortError' })
    waiting.abort()
    await second
    const third = page(pool, 'n < 2')
    for (const controller of running) controller.abort()
    await Promise.all(first)
    assert.equal(JSON.parse(String((await third).records)).length, 2)
    await until(0)
  })

  test('a request that was aborted before its start is not started', async (t) => {
    const pool = poolOf(t)
    await assert.rejects(query(pool, 'SELECT 1', AbortSignal.abort()), { name: 'AbortError' })
  })

  test('a few queries run at a time, in the order of their arrival', async (t) => {
    // Connections of earlier tests may still be ending.
    while ((await atWork()).connections > 0) await sleep(20)
    const queue = new SqlQueue({
      open: () => SqlConnection.open(sheet.database, DEFAULT_QUERY_LIMITS),
      timeoutMs: 30_000,
      maxWaitMs: 60_000,
    })
    t.after(() => queue.close())
    const begun: number[] = []
    let running = 0
    let most = 0
    const run = (number: number): Promise<void> =>
      queue.run({
        characters: 1,
        signal: undefined,
        work: async () => {
          begun.push(number)
          running += 1
          most = Math.max(most, running)
          await setImmediate()
          running -= 1
        },
      })
    // The first ones begin when their connections are made.
    await Promise.all([-4, -3, -2, -1].map(run))
    const numbers = Array.from({ length: 40 }, (_, number) => number)
    await Promise.all(numbers.map(run))
    assert.deepEqual(begun.slice(4), numbers)
    assert.equal(most, 4)
    assert.ok((await atWork()).connections <= 4)
  })

  test('D19: a query that waits too long for a connection is refused with a request to retry', async (t) => {
    const pool = poolOf(t, { maxWaitMs: 50 })
    const controller = new AbortController()
    const busy = Array.from({ length: 4 }, () =>
      query(pool, ENDLESS, controller.signal).catch(() => undefined),
    )
    await until(4)
    await assert.rejects(query(pool, 'SELECT 1'), { message: 'too many queries at once: try again later' })
    controller.abort()
    await Promise.all(busy)
  })

  test('D19: a result of more than 64 MiB is refused, and so is a row of more than 16', async (t) => {
    const pool = poolOf(t)
    const answer = { message: 'the result is larger than 64 MiB: select less' }
    const row = { message: 'a row of the result is larger than 16 MiB: select less' }
    await assert.rejects(query(pool, "SELECT repeat('x', 1000000) AS a FROM generate_series(1, 70)"), answer)
    await assert.rejects(query(pool, "SELECT repeat('x', 17000000) AS a"), row)
    await assert.rejects(query(pool, "SELECT repeat('x', 9000000) AS a, repeat('x', 9000000) AS b"), row)
    await assert.rejects(
      query(pool, `SELECT repeat(chr(1), 2000000) AS a FROM generate_series(1, 10)`),
      answer,
    )
    const bytes = JSON.parse(
      String(await query(pool, "SELECT decode(repeat('00ff', 2000000), 'hex') AS a")),
    ) as {
      rows: { a: string }[]
    }
    assert.equal(bytes.rows[0]?.a.length, Math.ceil(4_000_000 / 3) * 4)
  })

  test('an idle connection that was lost is replaced', async (t) => {
    const pool = poolOf(t)
    await query(pool, 'SELECT 1 AS a')
    await sheet.database.all(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'colophon sql'",
    )
    assert.equal(String(await query(pool, 'SELECT 2 AS a')), '{"rows":[{"a":2}],"count":1}')
  })

  test('a connection that breaks in the middle of a query is an internal error', async (t) => {
    const pool = poolOf(t)
    const broken = assert.rejects(query(pool, ENDLESS), { type: 'RecordsError' })
    await until(1)
    await sheet.database.all(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'colophon sql'",
    )
    await broken
    await query(pool, 'SELECT 1 AS a')
  })

  test('a query whose client has disconnected is stopped by PostgreSQL itself', async () => {
    const connection = await SqlConnection.open(sheet.database, DEFAULT_QUERY_LIMITS)
    const role = await readerRole(sheet.database, sheet.database.location.schema)
    const work = (session: SqlSession): Promise<unknown> => session.rows(ENDLESS)
    const lost = assert.rejects(connection.run({ role, rowBytes: MAX_ROW_BYTES, work }))
    await until(1)
    connection.drop()
    await Promise.all([lost, connection.ended])
    await until(0)
  })

  test('closing ends queries under way and waits for none', async () => {
    const pool = new SqlPool({ database: sheet.database, limits: DEFAULT_QUERY_LIMITS })
    const closing = { message: 'the sheet is being closed' }
    const ended = [ENDLESS, ENDLESS, ENDLESS, ENDLESS, ENDLESS].map((sql) =>
      assert.rejects(query(pool, sql), closing),
    )
    await until(4)
    await pool.close()
    await Promise.all(ended)
    await assert.rejects(query(pool, 'SELECT 1'), closing)
    assert.deepEqual(await atWork(), { running: 0, connections: 0 })
  })

  test('a query uses one processor of the database, and little memory for each step', async () => {
    const pool = new SqlPool({
      database: sheet.database,
      limits: { ...DEFAULT_QUERY_LIMITS, timeoutMs: 20_000 },
    })
    const controller = new AbortController()
    const running = query(pool, ENDLESS, controller.signal).catch(() => undefined)
    await until(1)
    const workers = await sheet.database.get(
      "SELECT count(*) AS count FROM pg_stat_activity WHERE backend_type = 'parallel worker'",
    )
    assert.equal(workers?.['count'], 0)
    controller.abort()
    await running
    await pool.close()
  })

  test('D19: a query that needs too much of the disk is stopped', async (t) => {
    const limits = { ...DEFAULT_QUERY_LIMITS, maxMemoryBytes: 4 * 1024 * 1024, timeoutMs: 60_000 }
    const pool = poolOf(t, { limits })
    const sql = `SELECT count(*) FROM (SELECT md5(x::text) || repeat('x', 3000) AS a FROM generate_series(1, 100000) AS t(x) ORDER BY a) AS s`
    await assert.rejects(query(pool, sql), {
      message: 'the query needs more of the disk than it may use and was stopped',
    })
  })
})

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { getPriority } from 'node:os'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { after, afterEach, before, suite, test } from 'node:test'
import { createSheetDatabase, field, type SheetDatabase } from '../../../../test/support/sheet-database.ts'
import { QueryError, RecordsError, StoppingError } from '../../../errors/service-error.ts'
import { DEFAULT_QUERY_LIMITS, SqlPool, type QueryLimits, type SqlPoolOptions } from './sql-pool.ts'
import { SqlProcess } from './sql-process.ts'

// Processes start in half the time.
enableCompileCache()

const FIELDS = [field('id', 'string'), field('n', 'integer'), field('done', 'boolean')]
const MIB = 1024 * 1024

const ENDLESS = 'WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) AS c FROM t'
/** Keeps a megabyte a row in memory. */
const GREEDY = `WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t LIMIT 5000)
  SELECT count(DISTINCT printf('%1000000c', 'x') || x) AS c FROM t`

/** For short time limits, from which the time to wait for a process follows: on a busy machine one starts slowly. */
const PATIENT = { maxWaitMs: 60_000 }

const CHILDREN = `/proc/${process.pid}/task/${process.pid}/children`

suite('the pool of query processes', () => {
  let sheet: SheetDatabase
  /** Limits for tests that need none of their own. */
  let common: SqlPool
  let pools: SqlPool[] = []

  before(() => {
    sheet = createSheetDatabase(FIELDS)
    for (let n = 1; n <= 20; n += 1) sheet.insert(`r${n}`, n, n % 2)
    common = new SqlPool({ path: sheet.path, limits: { ...DEFAULT_QUERY_LIMITS, timeoutMs: 30_000 } })
  })

  after(async () => {
    await common.close()
    sheet.remove()
  })

  afterEach(async () => {
    await Promise.all(pools.map((pool) => pool.close()))
    pools = []
  })

  function open(limits: Partial<QueryLimits> = {}, options: Partial<SqlPoolOptions> = {}): SqlPool {
    // Far more time than any of these takes on a busy machine, except in tests of time limits.
    const pool = new SqlPool({
      path: sheet.path,
      limits: { ...DEFAULT_QUERY_LIMITS, timeoutMs: 30_000, ...limits },
      ...options,
    })
    pools.push(pool)
    return pool
  }

  test('D19: the default limits are 5 s, 10000 rows and 384 MiB', () => {
    assert.deepEqual(DEFAULT_QUERY_LIMITS, { timeoutMs: 5000, maxRows: 10_000, maxMemoryBytes: 384 * MIB })
  })

  test('D18: queries and pages run concurrently', async () => {
    const pool = common
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        pool
          .query({ sql: 'SELECT n, done FROM records WHERE n = ?', params: [index], allFields: FIELDS })
          .then(String),
      ),
    )
    assert.equal(answers[7], '{"rows":[{"n":7,"done":true}],"count":1}')
    assert.equal(answers[49], '{"rows":[],"count":0}')
    const page = await pool.page({
      fields: FIELDS,
      allFields: FIELDS,
      limit: 2,
      after: { key: 4, values: [] },
      filter: 'done',
      sort: [],
      skip: 0,
    })
    assert.equal(String(page.records), '[{"id":"r5","n":5,"done":true},{"id":"r7","n":7,"done":true}]')
    assert.deepEqual(page.next, { key: 7, values: [] })
    const last = await pool.page({
      fields: [],
      allFields: FIELDS,
      limit: 2,
      after: page.next,
      filter: 'n > 19',
      sort: [],
      skip: 0,
    })
    assert.deepEqual(last, { records: Buffer.from('[{}]'), next: null })
  })

  test('a long parameter is serialized in parts', async (t) => {
    const stringify = t.mock.method(JSON, 'stringify')
    const text = 'é"'.repeat(MIB)
    const answer = await common.query({ sql: 'SELECT length(?) AS n', params: [text], allFields: FIELDS })
    const longest = Math.max(...stringify.mock.calls.map(({ result }) => String(result).length))
    stringify.mock.restore()
    assert.equal(String(answer), `{"rows":[{"n":${2 * MIB}}],"count":1}`)
    assert.ok(longest < MIB / 8, `${longest} characters at once`)
  })

  test('D17: a query sees preceding writes', async () => {
    const pool = common
    for (let n = 100; n < 110; n += 1) {
      sheet.writer.exec(`UPDATE "$data" SET n = ${n} WHERE id = 'r20'`)
      const answer = String(
        await pool.query({ sql: "SELECT n FROM records WHERE id = 'r20'", params: [], allFields: FIELDS }),
      )
      assert.equal(answer, `{"rows":[{"n":${n}}],"count":1}`)
    }
  })

  test('D9: a query sees a field that was added while the processes ran', async () => {
    const other = createSheetDatabase(FIELDS)
    other.insert('r1', 1, 1)
    const pool = open({}, { path: other.path })
    await pool.query({ sql: 'SELECT * FROM records', params: [], allFields: FIELDS })
    other.writer.exec('BEGIN; ALTER TABLE "$data" ADD COLUMN late TEXT; DROP VIEW records')
    other.writer.exec('CREATE VIEW records AS SELECT id, n, done, late FROM "$data"; COMMIT')
    const later = [...FIELDS, field('late', 'array')]
    other.writer.exec(`UPDATE "$data" SET late = '[1]'`)
    const expected = '{"rows":[{"id":"r1","n":1,"done":true,"late":[1]}],"count":1}'
    assert.equal(
      String(await pool.query({ sql: 'SELECT * FROM records', params: [], allFields: later })),
      expected,
    )
    await pool.close()
    other.remove()
  })

  test('D19: a result at the row limit is marked as truncated', async () => {
    const answer = await open({ maxRows: 2 }).query({
      sql: 'SELECT n FROM records',
      params: [],
      allFields: FIELDS,
    })
    assert.equal(String(answer), '{"rows":[{"n":1},{"n":2}],"count":2,"truncated":true}')
  })

  test('D19: a large result arrives completely', async () => {
    const sql = `WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t LIMIT 12)
      SELECT x, printf('%1000000c', 'é') AS text FROM t`
    const { rows, count } = JSON.parse(
      String(await common.query({ sql, params: [], allFields: FIELDS })),
    ) as {
      rows: readonly { readonly x: number; readonly text: string }[]
      count: number
    }
    assert.equal(count, 12)
    assert.deepEqual(
      rows.map(({ x }) => x),
      Array.from({ length: 12 }, (_, index) => index + 1),
    )
    assert.ok(rows.every(({ text }) => text.length === 1_000_000 && text.endsWith(' é')))
  })

  test('D19: a query past its deadline is stopped, and the next ones run', async () => {
    const pool = open({ timeoutMs: 300 }, PATIENT)
    const runaways = [1, 2].map(() => pool.query({ sql: ENDLESS, params: [], allFields: FIELDS }))
    const filter = pool.page({
      fields: FIELDS,
      allFields: FIELDS,
      limit: 1,
      after: null,
      sort: [],
      skip: 0,
      filter: `(${ENDLESS}) > 0`,
    })
    const message = 'the query took longer than 0.3 s and was stopped'
    for (const runaway of [...runaways, filter]) {
      await assert.rejects(runaway, (error) => error instanceof QueryError && error.message === message)
    }
    assert.equal(
      String(await common.query({ sql: 'SELECT 1 AS a', params: [], allFields: FIELDS })),
      '{"rows":[{"a":1}],"count":1}',
    )
  })

  test('a query whose signal aborts is stopped or removed from the queue, and the others continue', async () => {
    const pool = open()
    const controllers = Array.from({ length: 4 }, () => new AbortController())
    const [stopped, kept, queued] = controllers
      .slice(0, 3)
      .map(({ signal }) => pool.query({ sql: ENDLESS, params: [], allFields: FIELDS }, signal))
    assert.ok(stopped && kept && queued)
    const next = pool.query({ sql: 'SELECT 1 AS a', params: [], allFields: FIELDS }).then(String)
    const reasons = controllers.map((_, index) => new Error(`reason ${index}`))
    controllers[2]?.abort(reasons[2])
    await assert.rejects(queued, reasons[2])
    controllers[0]?.abort(reasons[0])
    await assert.rejects(stopped, reasons[0])
    assert.equal(await next, '{"rows":[{"a":1}],"count":1}')
    controllers[1]?.abort(reasons[1])
    await assert.rejects(kept, reasons[1])
    controllers[3]?.abort(reasons[3])
    await assert.rejects(
      pool.query({ sql: 'SELECT 1 AS a', params: [], allFields: FIELDS }, controllers[3]?.signal),
      reasons[3],
    )
  })

  test('an abandoned query that is almost done does not cost its process', async () => {
    const others = new Set(children())
    const pool = open({}, { graceMs: 30_000 })
    const one = { sql: 'SELECT 1 AS a', params: [], allFields: FIELDS }
    await pool.query(one)
    const [pid] = children().filter((each) => !others.has(each))
    assert.ok(pid)
    for (let round = 0; round < 10; round += 1) {
      const controller = new AbortController()
      const answers = [1, 2, 3].map(() => pool.query(one, controller.signal))
      controller.abort(new Error('gone'))
      for (const answer of answers) await assert.rejects(answer, /gone/)
      await pool.query(one)
    }
    assert.ok(children().includes(pid))
  })

  test('D19: a query that waits behind runaways has its full time once it runs', async () => {
    const pool = open({ timeoutMs: 2000 }, PATIENT)
    const runaways = [
      pool.query({ sql: ENDLESS, params: [], allFields: FIELDS }),
      pool.query({ sql: ENDLESS, params: [], allFields: FIELDS }),
    ]
    const waiting = pool.query({ sql: 'SELECT 1 AS a', params: [], allFields: FIELDS }).then(String)
    const settled = await Promise.allSettled([...runaways, waiting])
    assert.deepEqual(
      settled.map(({ status }) => status),
      ['rejected', 'rejected', 'fulfilled'],
    )
  })

  test('D19: a query that takes too much memory is stopped, and the next one runs', async () => {
    const pool = open({ maxMemoryBytes: 160 * MIB })
    const message = 'the query used more than 160 MiB of memory and was stopped'
    await assert.rejects(
      pool.query({ sql: GREEDY, params: [], allFields: FIELDS }),
      (error) => error instanceof QueryError && error.message === message,
    )
    assert.equal(
      String(await pool.query({ sql: 'SELECT 1 AS a', params: [], allFields: FIELDS })),
      '{"rows":[{"a":1}],"count":1}',
    )
  })

  test('D19: a row too long for a JavaScript string is refused, given the memory for it', async () => {
    const pool = open({ maxMemoryBytes: 4096 * MIB })
    const columns = [1, 2, 3, 4, 5, 6, 7].map((number) => `zeroblob(60000000) AS a${number}`)
    await assert.rejects(
      pool.query({ sql: `SELECT ${columns.join(', ')}`, params: [], allFields: FIELDS }),
      (error) => error instanceof QueryError && /larger than 64 MiB/.test(error.message),
    )
  })

  test(
    'D19: a process that keeps much memory runs no further query',
    { skip: !existsSync(CHILDREN) },
    async () => {
      const request = { kind: 'query', sql: 'SELECT 1 AS a', params: [], allFields: FIELDS } as const
      const others = new Set(children())
      const usual = new SqlProcess(sheet.path, DEFAULT_QUERY_LIMITS)
      await usual.ready
      const [pid] = children().filter((each) => !others.has(each))
      assert.ok(pid)
      const idle = anonymousMemory(pid)
      await usual.run(request)
      assert.equal(usual.usable, true)
      // Merely to be there takes more than half.
      const wary = new SqlProcess(sheet.path, { ...DEFAULT_QUERY_LIMITS, maxMemoryBytes: idle * 1.7 })
      await wary.ready
      assert.equal(String((await wary.run(request)).json), '{"rows":[{"a":1}],"count":1}')
      assert.equal(wary.usable, false)
      usual.kill()
      await Promise.all([usual.ended, wary.ended])
    },
  )

  test('one process more than queries run is ready', { skip: !existsSync(CHILDREN) }, async () => {
    const own = newChildren()
    const pool = open()
    const query = (sql: string): Promise<unknown> => pool.query({ sql, params: [], allFields: FIELDS })
    while (own() < 2) await query('SELECT 1 AS a')
    for (let count = 0; count < 50; count += 1) {
      await query('SELECT 1 AS a')
      assert.equal(own(), 2)
    }
    const running = [query(ENDLESS), query(ENDLESS)].map((one) => assert.rejects(one, StoppingError))
    while (own() < 3) await nextTurn()
    await pool.close()
    await Promise.all(running)
  })

  test(
    'processes end when there are no queries, and start again with the next one',
    { skip: !existsSync(CHILDREN) },
    async () => {
      const own = newChildren()
      const pool = open({}, { idleMs: 1 })
      for (let count = 0; count < 2; count += 1) {
        await pool.query({ sql: 'SELECT 1 AS a', params: [], allFields: FIELDS })
        while (own() > 0) await nextTurn()
      }
    },
  )

  test('D19: past a thousand waiting queries, or too long a wait, a query is refused', async () => {
    const tooMany = (error: unknown) => error instanceof QueryError && /too many queries/.test(error.message)
    const pool = open()
    const settled = await Promise.allSettled(
      Array.from({ length: 1010 }, () => pool.query({ sql: 'SELECT 1 AS a', params: [], allFields: FIELDS })),
    )
    const refused = settled.filter((each) => each.status === 'rejected')
    assert.equal(refused.length, 10)
    assert.ok(refused.every(({ reason }) => tooMany(reason)))
    // No process is ready within a millisecond.
    await assert.rejects(
      open({}, { maxWaitMs: 1 }).query({ sql: 'SELECT 1 AS a', params: [], allFields: FIELDS }),
      tooMany,
    )
  })

  test('D19: the queue is bounded in bytes too, since params can be as long as a body', async () => {
    const pool = open()
    const long = 'x'.repeat(20 * MIB)
    const settled = await Promise.allSettled(
      Array.from({ length: 8 }, () =>
        pool.query({ sql: 'SELECT length(?) AS n', params: [long], allFields: FIELDS }).then(String),
      ),
    )
    const [answered, refused] = ['fulfilled', 'rejected'].map((status) =>
      settled.filter((each) => each.status === status),
    )
    // One waits while no process is ready yet; it is answered, and so is what comes after.
    assert.equal(answered?.length, 1)
    assert.equal(refused?.length, 7)
    assert.equal(
      String(await pool.query({ sql: 'SELECT length(?) AS n', params: [long], allFields: FIELDS })),
      `{"rows":[{"n":${long.length}}],"count":1}`,
    )
  })

  test('D19: SQL or params beyond the limits of SQLite do not wait at all', async () => {
    const pool = open()
    const runaways = [1, 2, 3].map(() => pool.query({ sql: ENDLESS, params: [], allFields: FIELDS }))
    const settled = Promise.allSettled(runaways)
    const refuses = (promise: Promise<unknown>, words: RegExp) =>
      assert.rejects(promise, (error) => error instanceof QueryError && words.test(error.message))
    await refuses(
      pool.query({ sql: `SELECT '${'x'.repeat(MIB)}' AS a`, params: [], allFields: FIELDS }),
      /statement is longer than 1 MiB/,
    )
    const filter = `id = '${'x'.repeat(MIB)}'`
    await refuses(
      pool.page({ fields: FIELDS, allFields: FIELDS, limit: 1, after: null, filter, sort: [], skip: 0 }),
      /filter is longer than 1 MiB/,
    )
    await refuses(
      pool.query({ sql: 'SELECT ? AS a', params: Array(40_000).fill(1), allFields: FIELDS }),
      /more than 32766 values/,
    )
    await pool.close()
    await settled
  })

  test(
    'D19: on a small machine V8 does not end a query process before its watchdog would',
    { skip: !existsSync(CHILDREN) },
    async () => {
      const child = new SqlProcess(sheet.path, { ...DEFAULT_QUERY_LIMITS, maxMemoryBytes: 3000 * MIB })
      await child.ready
      const heap = /--max-old-space-size=(\d+)/.exec(readFileSync(`/proc/${child.pid}/cmdline`, 'latin1'))
      assert.ok(Number(heap?.[1]) > 3000)
      child.kill()
      await child.ended
    },
  )

  test('D18: a query process reveals nothing of its environment', async () => {
    process.env['TZ'] = 'Pacific/Kiritimati'
    const sql = "SELECT datetime(0, 'unixepoch', 'localtime') AS t"
    assert.equal(
      String(await open().query({ sql, params: [], allFields: FIELDS })),
      '{"rows":[{"t":"1970-01-01 00:00:00"}],"count":1}',
    )
    delete process.env['TZ']
  })

  test(
    'D18: a query process has no environment variables and a low priority',
    { skip: !existsSync(CHILDREN) },
    async () => {
      const others = new Set(children())
      process.env['SQL_POOL_SECRET'] = 'hush'
      await open().query({ sql: 'SELECT 1 AS a', params: [], allFields: FIELDS })
      delete process.env['SQL_POOL_SECRET']
      const started = children().filter((pid) => !others.has(pid))
      assert.notEqual(started.length, 0)
      for (const pid of started)
        assert.equal(readFileSync(`/proc/${pid}/environ`, 'utf8').includes('hush'), false)
      assert.ok(started.some((pid) => getPriority(pid) > getPriority()))
    },
  )

  test(
    'the query of a process that is killed from outside fails',
    { skip: !existsSync(CHILDREN) },
    async () => {
      const others = new Set(children())
      const victim = new SqlProcess(sheet.path, DEFAULT_QUERY_LIMITS)
      await victim.ready
      const [pid] = children().filter((each) => !others.has(each))
      assert.ok(pid)
      const running = victim.run({ kind: 'query', sql: ENDLESS, params: [], allFields: FIELDS })
      process.kill(pid, 'SIGKILL')
      await assert.rejects(
        running,
        (error) => error instanceof QueryError && /stopped by the system/.test(error.message),
      )
      assert.equal(victim.usable, false)
      await victim.ended
    },
  )

  test('signals to the process group do not affect a query process', async (t) => {
    const child = new SqlProcess(sheet.path, DEFAULT_QUERY_LIMITS)
    t.after(() => child.kill())
    await child.ready
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(child.pid ?? 0, signal)
    const { json } = await child.run({ kind: 'query', sql: 'SELECT 1 AS a', params: [], allFields: FIELDS })
    assert.equal(String(json), '{"rows":[{"a":1}],"count":1}')
  })

  test('without its database a query fails with an error of the store, not of the statement', async () => {
    const pool = open({}, { path: `${sheet.path}-missing` })
    for (let round = 0; round < 2; round += 1) {
      await assert.rejects(
        pool.query({ sql: 'SELECT 1 AS a', params: [], allFields: FIELDS }).then(String),
        RecordsError,
      )
    }
  })

  test('a query on a damaged database fails with an error of the store', async () => {
    const other = createSheetDatabase(FIELDS)
    for (let n = 0; n < 1000; n += 1) other.insert(`r${n}`, n, 0)
    other.writer.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    const pageSize = 4096
    const file = openSync(other.path, 'r+')
    // The first page stays: it is what makes the file a database.
    writeSync(file, Buffer.alloc(statSync(other.path).size - pageSize, 0xff), 0, null, pageSize)
    closeSync(file)
    const pool = open({}, { path: other.path })
    await assert.rejects(
      pool.query({ sql: 'SELECT n FROM records', params: [], allFields: FIELDS }),
      RecordsError,
    )
    await pool.close()
    other.remove()
  })

  test('closing ends running and waiting queries, and refuses new ones', async () => {
    const pool = open()
    const settled = Promise.allSettled(
      [1, 2, 3].map(() => pool.query({ sql: ENDLESS, params: [], allFields: FIELDS })),
    )
    await pool.close()
    for (const each of await settled) {
      assert.ok(each.status === 'rejected' && each.reason instanceof StoppingError)
      assert.match(each.reason.message, /being closed/)
    }
    await assert.rejects(pool.query({ sql: 'SELECT 1 AS a', params: [], allFields: FIELDS }), StoppingError)
    await pool.close()
  })

  test('D19: a query process ends when its parent is killed during a query', async () => {
    // Its parent passes its own standard error on to it: that closes only when both are gone.
    const options = { path: sheet.path, maxRows: 1, maxMemoryBytes: 1024 * MIB }
    const request = { kind: 'query', sql: `${ENDLESS} LIMIT 1`, params: [], allFields: [] }
    const script = `
      import { spawn } from 'node:child_process'
      import { encodeFrame } from ${JSON.stringify(new URL('./sql-protocol.ts', import.meta.url).href)}
      const options = JSON.stringify({ ...${JSON.stringify(options)}, parentPid: process.pid })
      const file = ${JSON.stringify(new URL('./sql-child.ts', import.meta.url).pathname)}
      const child = spawn(process.execPath, [file, options], { stdio: ['pipe', 'pipe', 'inherit'] })
      child.stdout.once('data', () => {
        child.stdin.write(encodeFrame(0, Buffer.from(${JSON.stringify(JSON.stringify(request))})), () => {
          console.log('running')
        })
      })`
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    parent.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
    await once(parent.stdout, 'data')
    parent.kill('SIGKILL')
    await once(parent, 'close')
    assert.equal(output, 'the parent is gone')
  })
})

function anonymousMemory(pid: number): number {
  return Number(/^RssAnon:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}

/** Returns a function that counts the processes that have been started since and have not ended. */
function newChildren(): () => number {
  const others = new Set(children())
  return () => children().filter((pid) => !others.has(pid)).length
}

function children(): readonly number[] {
  return readFileSync(CHILDREN, 'utf8').trim().split(' ').filter(Boolean).map(Number)
}

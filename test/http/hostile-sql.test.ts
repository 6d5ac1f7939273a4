import assert from 'node:assert/strict'
import { suite, test, type TestContext } from 'node:test'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { createApp } from '../../src/http/app.ts'
import { DEFAULT_QUERY_LIMITS } from '../../src/store/sqlite/sql/sql-pool.ts'
import { openCanarySheet, type CanarySheet } from '../support/canary-sheet.ts'
import { HOSTILE_FILTERS, HOSTILE_STATEMENTS } from '../support/hostile-sql.ts'
import { assertEnvelope } from '../support/http-fixture.ts'
import { onEnd } from '../support/on-end.ts'

/** Longest URL that is looked at. */
const URL_LIMIT = 64 * 1024

/** One in so many statements of the corpus goes over HTTP; store/sqlite/sql/sql-hostile.test.ts covers each of them. */
const ONE_IN = 5

/** Concurrent requests. */
const AT_ONCE = 4

interface HostileApp extends CanarySheet {
  readonly app: FastifyInstance
}

function someOf(texts: readonly string[]): readonly string[] {
  return texts.filter((_, index) => index % ONE_IN === 0)
}

async function startHostileApp(t: TestContext): Promise<HostileApp> {
  // Time enough for a busy machine: these are refused for what they are.
  const queryLimits = { ...DEFAULT_QUERY_LIMITS, timeoutMs: 30_000 }
  const canary = await openCanarySheet(t, { queryLimits })
  const app = createApp(canary.sheet)
  onEnd(t, () => app.close())
  return { ...canary, app }
}

/** Sends each text, and sees each refused without a word of what must not be known and without anything written. */
async function refuses(
  { app, ...canary }: HostileApp,
  texts: readonly string[],
  send: (text: string) => Promise<LightMyRequestResponse>,
): Promise<void> {
  const before = canary.contentHash()
  for (let start = 0; start < texts.length; start += AT_ONCE) {
    await Promise.all(
      texts.slice(start, start + AT_ONCE).map(async (text) => {
        const response = await send(text)
        const shown = JSON.stringify(text.slice(0, 200))
        assert.equal(response.statusCode, 400, `${shown} -> ${response.body.slice(0, 200)}`)
        assertEnvelope(response, 'QueryError', /./)
        canary.assertTellsNothing(response.json<{ error: { message: string } }>().error.message, text)
        canary.assertNoCanary(response.body + JSON.stringify(response.headers), text)
      }),
    )
    assert.equal(
      canary.contentHash(),
      before,
      `written by one of ${JSON.stringify(texts.slice(start, start + AT_ONCE))}`,
    )
  }
  const after = await app.inject('/api/records?fields=id')
  assert.equal(after.json<{ records: unknown[] }>().records.length, 10)
}

suite('hostile SQL over HTTP', () => {
  test('the corpus has more than 300 statements and filters', () => {
    const size = new Set([...HOSTILE_STATEMENTS, ...HOSTILE_FILTERS]).size
    assert.ok(size >= 900, `only ${size}`)
  })

  test('D18: POST /api/query refuses statements of the corpus, writes nothing and reveals nothing', async (t) => {
    const running = await startHostileApp(t)
    await refuses(running, someOf(HOSTILE_STATEMENTS), (sql) =>
      running.app.inject({ method: 'POST', url: '/api/query', payload: { sql } }),
    )
  })

  test('D18: as a filter of GET /api/records statements of the corpus are refused too', async (t) => {
    const running = await startHostileApp(t)
    // In brackets a SELECT is an expression.
    const short = HOSTILE_STATEMENTS.filter((sql) => sql !== '(SELECT 1)' && filterUrl(sql).length < 2000)
    await refuses(running, someOf(short), (sql) => running.app.inject({ url: filterUrl(sql) }))
  })

  test('D16: GET /api/records refuses filters of the corpus, writes nothing and reveals nothing', async (t) => {
    const running = await startHostileApp(t)
    const [fitting, long] = [true, false].map((fits) =>
      HOSTILE_FILTERS.filter((filter) => filterUrl(filter).length <= URL_LIMIT === fits),
    )
    assert.ok(fitting && long && long.length > 0)
    await refuses(running, someOf(fitting), (filter) => running.app.inject({ url: filterUrl(filter) }))
    for (const filter of long) {
      const response = await running.app.inject({ url: filterUrl(filter) })
      assert.equal(response.statusCode, 414)
      assertEnvelope(response, 'ValidationError', /./)
    }
  })

  test('D16: with a cursor a filter of the corpus is refused as well', async (t) => {
    const running = await startHostileApp(t)
    const first = await running.app.inject('/api/records?filter=1&limit=3')
    const { next_cursor: cursor } = first.json<{ next_cursor: string }>()
    const hostile = '1 = 1) OR (1 = 1'
    // The cursor is for its filter alone, so that nobody loosens one that has begun.
    const response = await running.app.inject(`${filterUrl(hostile)}&cursor=${cursor}`)
    assert.equal(response.statusCode, 400)
    assertEnvelope(response, 'ValidationError', /cursor/)
    for (const filter of ['1 ', ' 1', '1 OR 1', '1--\n']) {
      const other = await running.app.inject(`${filterUrl(filter)}&cursor=${cursor}`)
      assert.equal(other.statusCode, 400, filter)
    }
  })
})

function filterUrl(filter: string): string {
  return `/api/records?limit=3&filter=${encodeURIComponent(filter.toWellFormed())}`
}

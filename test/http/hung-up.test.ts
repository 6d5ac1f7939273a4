import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_QUERY_LIMITS } from '../../src/store/sqlite/sql/sql-pool.ts'
import { listen, startApp } from '../support/http-fixture.ts'
import { RawClient } from '../support/raw-client.ts'

const ENDLESS = 'WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) AS c FROM t'
const FILTER = encodeURIComponent(`(${ENDLESS}) > 0`)

/** Endless requests, by route. */
const RUNAWAYS: Readonly<Record<string, string>> = {
  'a query': query(ENDLESS),
  'a filtered page': get(`/api/records?filter=${FILTER}`),
  'a sorted page': get(`/api/records?filter=${FILTER}&sort=title`),
  'a summary': get(`/api/summary?fields=title&filter=${FILTER}`),
}

function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
}

function query(sql: string): string {
  const body = JSON.stringify({ sql })
  return `POST /api/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/** Ways of a client to be gone. */
const HANGING_UP: Readonly<Record<string, (client: RawClient) => unknown>> = {
  'closes its connection': ({ socket }) => socket.end(),
  'breaks its connection': ({ socket }) => socket.resetAndDestroy(),
}

// Were nothing stopped, what waits would wait for the deadline, and the test would not live to see that.
const DEADLINE_MS = 600_000

test('abandoned SQL is stopped, without an effect on others', async (t) => {
  const queryLimits = { ...DEFAULT_QUERY_LIMITS, timeoutMs: DEADLINE_MS }
  const { app, logged } = await startApp(t, { sheet: { queryLimits } })
  let arrived = 0
  let wake: () => void = () => undefined
  app.addHook('preHandler', (_request, _reply, done) => {
    arrived += 1
    wake()
    done()
  })
  const port = await listen(app)
  /** Resolves when the service has the request. */
  const send = async (message: string): Promise<RawClient> => {
    const client = await RawClient.open(t, port)
    const before = arrived
    client.send(message)
    while (arrived === before) await new Promise<void>((resolve) => (wake = resolve))
    return client
  }
  const one = { status: 200, body: '{"rows":[{"one":1}],"count":1}' }
  const answerOf = async (client: RawClient): Promise<object> => {
    const { status, body } = await client.answer()
    return { status, body }
  }

  for (const [what, message] of Object.entries(RUNAWAYS)) {
    for (const [how, hangUp] of Object.entries(HANGING_UP)) {
      await t.test(`${what} whose client ${how} releases its process`, async () => {
        const [first, second] = [await send(message), await send(message)]
        // Both processes are taken.
        const waiting = await send(query('SELECT 1 AS one'))
        hangUp(first)
        assert.deepEqual(await answerOf(waiting), one)
        assert.equal(second.received, '', 'another client goes on waiting')
        hangUp(second)
      })
    }
  }

  await t.test('a waiting query is removed from the queue when its client disconnects', async () => {
    const running = [await send(query(ENDLESS)), await send(query(ENDLESS))] as const
    const queued: RawClient[] = []
    for (const message of Object.values(RUNAWAYS)) queued.push(await send(message))
    const waiting = await send(query('SELECT 1 AS one'))
    for (const client of queued) client.socket.destroy()
    running[0].socket.destroy()
    assert.deepEqual(await answerOf(waiting), one)
    assert.equal(running[1].received, '')
    running[1].socket.destroy()
  })

  await t.test('requests that came before on the same connection are stopped as well', async () => {
    const client = await send(query(ENDLESS))
    client.send(query(ENDLESS))
    const waiting = await send(query('SELECT 1 AS one'))
    client.socket.destroy()
    assert.deepEqual(await answerOf(waiting), one)
  })

  await t.test('none of this is an internal error', () => assert.deepEqual(logged, []))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Pool } from 'undici'
import { DEFAULT_QUERY_LIMITS } from '../../src/store/sqlite/sql/sql-pool.ts'
import { listen, startApp } from '../support/http-fixture.ts'
import { onEnd } from '../support/on-end.ts'

const NUMBERS = 'WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t)'

/** Queries that occupy both query processes: by time, by memory, by the size of their results. */
const RUNAWAYS = [
  `${NUMBERS} SELECT count(*) AS c FROM t`,
  `${NUMBERS} SELECT count(DISTINCT printf('%1000000c', 'x') || x) AS c FROM t`,
  `${NUMBERS} SELECT printf('%1000000c', 'x') AS c FROM t`,
  `SELECT count(*) AS c FROM ${Array.from({ length: 30 }, (_, index) => `records AS r${index}`).join()}`,
]

/** Concurrent reads besides the runaways. */
const READERS = 2

test('D19: while queries run away, every other request is served correctly', async (t) => {
  const queryLimits = { ...DEFAULT_QUERY_LIMITS, timeoutMs: 1000 }
  const { app } = await startApp(t, { sheet: { queryLimits } })
  const client = new Pool(`http://127.0.0.1:${await listen(app)}`, { connections: 20 })
  onEnd(t, () => client.destroy())
  const get = async (path: string): Promise<string> => {
    const { statusCode, body } = await client.request({ path, method: 'GET' })
    const text = await body.text()
    assert.equal(statusCode, 200, text)
    return text
  }
  const runAway = async (sql: string): Promise<void> => {
    const headers = { 'content-type': 'application/json' }
    const { statusCode, body } = await client.request({
      path: '/api/query',
      method: 'POST',
      headers,
      body: JSON.stringify({ sql }),
    })
    const { error } = (await body.json()) as { error: { type: string; message: string } }
    assert.equal(statusCode, 400)
    assert.equal(error.type, 'QueryError')
  }

  const expected = await get('/api/records/a')
  const page = await get('/api/records?limit=2')
  let running = true
  const runaways = Promise.all(RUNAWAYS.map(runAway)).finally(() => (running = false))
  const reader = async (): Promise<number> => {
    let meanwhile = 0
    while (running) {
      assert.equal(await get('/api/records/a'), expected)
      assert.equal(await get('/api/records?limit=2'), page)
      if (running) meanwhile += 1
    }
    return meanwhile
  }
  const readers = Array.from({ length: READERS }, reader)
  await runaways
  // Not only when the runaways had been killed: thousands usually, but how many is the machine's business.
  for (const meanwhile of await Promise.all(readers)) assert.ok(meanwhile > 0, 'reads wait for queries')
  // Queries are carried out again, in time as soon as the machine lets them be.
  for (;;) {
    const path = '/api/records?filter=price%3E1&fields=id&limit=1'
    const { statusCode, body } = await client.request({ path, method: 'GET' })
    const text = await body.text()
    if (statusCode !== 200) assert.match(text, /took longer than 1 s/)
    else {
      assert.match(text, /"a"/)
      break
    }
  }
})

test('the number of records is known without a query', async (t) => {
  const { app, sheet } = await startApp(t)
  const { store } = await sheet.current()
  t.mock.method(store, 'summary', () => assert.fail('it waits for its turn among queries'))
  const { total } = await store.status()
  const answer = await app.inject('/api/summary')
  assert.deepEqual([answer.statusCode, answer.json()], [200, { count: total, fields: {} }])
  assert.ok(total > 0)
})

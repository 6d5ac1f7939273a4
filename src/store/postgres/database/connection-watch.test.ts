import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { DatabaseProxy } from '../../../../test/support/database-proxy.ts'
import { onEnd } from '../../../../test/support/on-end.ts'
import { startPostgres } from '../../../../test/support/postgres.ts'
import { RecordsError } from '../../../errors/service-error.ts'
import { ConnectionWatch } from './connection-watch.ts'
import { Database } from './database.ts'
import { parseStoreUrl } from './store-url.ts'

const server = await startPostgres()

/** A short interval for tests. */
const CHECK_MS = 200

async function overProxy(t: TestContext): Promise<{ database: Database; proxy: DatabaseProxy }> {
  const proxy = await DatabaseProxy.start(t, server.freshUrl())
  const database = new Database(parseStoreUrl(proxy.url), CHECK_MS)
  onEnd(t, () => database.close())
  return { database, proxy }
}

function seven(database: Database): Promise<unknown> {
  return database.get('SELECT 7 AS seven').then((row) => row?.['seven'])
}

test('a request on a silently lost connection is answered on another', async (t) => {
  const { database, proxy } = await overProxy(t)
  await Promise.all(Array.from({ length: 8 }, () => seven(database)))
  proxy.lose()
  const answers = Array.from({ length: 20 }, () => seven(database))
  proxy.pass()
  assert.deepEqual(new Set(await Promise.all(answers)), new Set([7]))
})

test('a request while no connection works gets an error', async (t) => {
  const { database, proxy } = await overProxy(t)
  await seven(database)
  proxy.lose()
  await assert.rejects(seven(database), RecordsError)
  proxy.pass()
  assert.equal(await seven(database), 7)
})

test('a statement may take as long as it likes', async (t) => {
  const { database } = await overProxy(t)
  const asked = database.get('SELECT 7 AS seven, pg_sleep($1)::text', (CHECK_MS / 1000) * 10)
  assert.equal((await asked)?.['seven'], 7)
})

test('a connection on which a long statement is still being sent is given more time', async (t) => {
  const url = server.freshUrl()
  const { connectionString } = parseStoreUrl(url)
  const idle = new Client({ connectionString })
  await idle.connect()
  onEnd(t, () => idle.end())
  const watch = new ConnectionWatch(parseStoreUrl(url), CHECK_MS)
  const ended: string[] = []
  const { processID } = idle as unknown as { processID: number }
  const ends = ['sending', 'waiting'].map((name) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const destroy = (): void => {
      ended.push(name)
      watch.ended(client)
      resolve()
    }
    const stream = { writableLength: name === 'sending' ? 1 : 0, destroy }
    const client = { processID, connection: { stream } } as unknown as Client
    watch.started(client)
    return promise
  })
  // The connection keeps the process alive, not the watch.
  await Promise.all(ends)
  assert.deepEqual(ended, ['waiting', 'sending'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startPostgres } from '../../../../test/support/postgres.ts'
import { Database } from './database.ts'
import { parseStoreUrl } from './store-url.ts'

test('a read after a change of a column succeeds, whichever connections have prepared it before', async (t) => {
  const database = new Database(parseStoreUrl((await startPostgres()).freshUrl()))
  t.after(() => database.close())
  await database.exec('CREATE SCHEMA stale; CREATE TABLE stale.t (a text); INSERT INTO stale.t VALUES (1)')
  const read = 'SELECT a FROM stale.t'
  const held = Promise.withResolvers<undefined>()
  let waiting = 8
  await Promise.all(
    Array.from({ length: waiting }, () =>
      database.reading(async (db) => {
        await db.all(read)
        waiting -= 1
        if (waiting === 0) held.resolve(undefined)
        await held.promise
      }),
    ),
  )
  await database.exec('ALTER TABLE stale.t ALTER COLUMN a TYPE integer USING a::integer')
  assert.deepEqual(await database.reading((db) => db.all(read)), [{ a: 1 }])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startPostgres } from '../../../../test/support/postgres.ts'
import { Database } from './database.ts'
import { parseStoreUrl } from './store-url.ts'

/** Fails in a transaction that takes long to undo: the server tells the error first, and the state of the transaction after it. */
const FAILS = `BEGIN;
  DO $$ BEGIN FOR i IN 1..200 LOOP EXECUTE 'CREATE TABLE undone' || i || ' (a integer)'; END LOOP; END $$;
  SELECT 1 / 0; COMMIT`

test('a connection whose transaction failed is not used in it again', async (t) => {
  const database = new Database(parseStoreUrl((await startPostgres()).freshUrl()))
  t.after(() => database.close())
  // As pg-boss sends transactions of its own.
  await assert.rejects(database.foreign(FAILS), /division by zero/)
  assert.deepEqual(await database.reading((db) => db.all('SELECT 1 AS one')), [{ one: 1 }])
})

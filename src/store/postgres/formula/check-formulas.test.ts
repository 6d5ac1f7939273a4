import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractWith } from '../../../../test/support/contract-with.ts'
import { startPostgres } from '../../../../test/support/postgres.ts'
import { Database } from '../database/database.ts'
import { parseStoreUrl } from '../database/store-url.ts'
import { checkFormulas } from './check-formulas.ts'

const postgres = await startPostgres()

test('a connection that is lost while formulas are checked is a RecordsError', async (t) => {
  const database = new Database(parseStoreUrl(postgres.url('public')))
  t.after(() => database.close())
  const dedicated = database.dedicated.bind(database)
  database.dedicated = async () => {
    const client = await dedicated()
    const ended = new Promise((resolve) => client.once('end', resolve))
    await client.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => undefined)
    await ended
    return client
  }
  const [size] = contractWith('{name: size, logicalType: integer}').fields.slice(1)
  assert.ok(size)
  const formula = { expression: 'size * 2', inputs: [size], type: 'integer' as const }
  await assert.rejects(checkFormulas(database, [{ formula, fail: assert.fail }]), { type: 'RecordsError' })
})

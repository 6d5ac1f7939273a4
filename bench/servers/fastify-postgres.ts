import Fastify from 'fastify'
import { Pool } from 'pg'
import { connectionString } from '../support/postgres-sheets.ts'

/**
 * The reference for durable writes to PostgreSQL: plain Fastify that inserts each record of a request into the table `reference`, with a prepared
 * statement in a transaction of its own, over the ten connections of a pool of node-postgres.
 */
const [store = ''] = process.argv.slice(2)
const pool = new Pool({ connectionString: connectionString(store) })
const app = Fastify()

app.post<{ Body: { records: Record<string, unknown>[] } }>('/records', async ({ body }) => {
  for (const record of body.records) await insert(record)
  return { records: body.records.length }
})

async function insert(record: Record<string, unknown>): Promise<void> {
  const names = Object.keys(record)
  const places = names.map((_, index) => `$${index + 1}`).join(', ')
  await pool.query({
    name: 'insert',
    text: `INSERT INTO reference (${names.join(', ')}) VALUES (${places})`,
    values: Object.values(record).map((value) => (Array.isArray(value) ? JSON.stringify(value) : value)),
  })
}

console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
process.on('SIGTERM', () => void app.close().then(() => pool.end()))

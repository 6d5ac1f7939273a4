import { DatabaseSync } from 'node:sqlite'
import Fastify from 'fastify'
import { sqlValue } from '../support/sqlite-reference.ts'

/** Records of a database over REST, with prepared statements and nothing else. */
const [file = ''] = process.argv.slice(2)
const db = new DatabaseSync(file)
db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL')
const columns = new Set(
  db
    .prepare('SELECT name FROM pragma_table_info(?)')
    .all('bench')
    .map(({ name }) => String(name)),
)
const one = db.prepare('SELECT * FROM bench WHERE id = ?')
const page = db.prepare('SELECT rowid AS "after", * FROM bench WHERE rowid > ? ORDER BY rowid LIMIT ?')
const app = Fastify()

app.get<{ Params: { id: string } }>('/records/:id', (request, reply) => {
  const row = one.get(request.params.id)
  return row === undefined ? reply.code(404).send({ error: 'no such record' }) : json(row)
})

app.get<{ Querystring: { after?: string; limit?: string } }>('/records', ({ query }) => {
  const rows = page.all(Number(query.after ?? 0), Math.min(1000, Number(query.limit ?? 50)))
  return { records: rows.map(json), next: rows.at(-1)?.['after'] ?? null }
})

app.patch<{ Params: { id: string }; Body: Record<string, unknown> }>('/records/:id', (request, reply) => {
  const changes = Object.entries(request.body)
  if (changes.length === 0 || changes.some(([name]) => !columns.has(name))) {
    return reply.code(400).send({ error: 'no such field' })
  }
  const assignments = changes.map(([name]) => `"${name}" = ?`).join(', ')
  const update = db.prepare(`UPDATE bench SET ${assignments} WHERE id = ?`)
  const { changes: updated } = update.run(...changes.map(([, value]) => sqlValue(value)), request.params.id)
  return updated === 0 ? reply.code(404).send({ error: 'no such record' }) : { updated }
})

/** Returns a row as a record: values of types that SQLite lacks are converted back. */
function json({ after: _, ...row }: Record<string, unknown>): Record<string, unknown> {
  return { ...row, active: row['active'] === 1, tags: JSON.parse(String(row['tags'])) as unknown }
}

console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
process.on('SIGTERM', () => void app.close())

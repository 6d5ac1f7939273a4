// The reference for a start: plain Fastify that opens the file of a sheet with node:sqlite, and sends its first 50 records.
import { DatabaseSync } from 'node:sqlite'
import Fastify from 'fastify'

const db = new DatabaseSync(String(process.argv[2]), { readOnly: true })
const page = db.prepare('SELECT * FROM records LIMIT 50')
const app = Fastify()
app.get('/api/records', () => ({ records: page.all() }))

console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
process.on('SIGTERM', () => void app.close())

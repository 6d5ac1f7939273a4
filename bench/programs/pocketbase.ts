import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { request } from 'undici'
import { INDEXED_FIELDS, orderRecord } from '../support/orders.ts'
import { startServerAt, type ServerProcess } from '../support/processes.ts'
import type { Program, ProgramRequest } from '../support/program.ts'
import { sqlValue } from '../support/sqlite-reference.ts'

const run = promisify(execFile)

const RECORDS = '/api/collections/records/records'
const USER = { identity: 'bench@example.com', password: 'bench-password' }
const JSON_HEADERS = { 'content-type': 'application/json' }

/** PocketBase with a collection that anyone may read and write, and a view for the aggregation. It has no SQL over HTTP and no import. */
export async function pocketbase(executable: string): Promise<Program> {
  const version = (await run(executable, ['--version'])).stdout.trim().split(' ').at(-1)
  return {
    name: `PocketBase ${version}`,
    async prepare(sheets, records) {
      const directory = sheets.directory(`pocketbase-${records}`)
      const { identity, password } = USER
      await run(executable, ['superuser', 'upsert', identity, password, '--dir', directory, '--dev=false'])
      const start = (): Promise<ServerProcess> =>
        startServerAt((port) => ({
          file: executable,
          args: ['serve', '--http', `127.0.0.1:${port}`, '--dir', directory, '--dev=false'],
        }))
      await configure(await start())
      insertOrders(join(directory, 'data.db'), records)
      return {
        start,
        recordPath: (id) => `${RECORDS}/${id}`,
        pagePath: (page) => `${RECORDS}?perPage=50&page=${page + 1}&skipTotal=1`,
        write: (id, count) => ({
          method: 'PATCH',
          path: `${RECORDS}/${id}`,
          headers: JSON_HEADERS,
          body: JSON.stringify({ count }),
        }),
        filteredPath: ({ customer, atLeast }) => {
          const filter = encodeURIComponent(`customer='${customer}'&&amount>=${atLeast}`)
          return `${RECORDS}?perPage=50&skipTotal=1&sort=-amount&filter=${filter}`
        },
        upsert,
        groupBy: (turn) => ({
          method: 'GET',
          path: `/api/collections/kinds/records?skipTotal=1&filter=${encodeURIComponent(`records>=-${turn}`)}`,
        }),
      }
    },
  }
}

/** Returns the request of a batch of upserts, which PocketBase carries out in one transaction. */
function upsert(records: readonly object[]): ProgramRequest {
  const requests = records.map((body) => ({ method: 'PUT', url: RECORDS, body }))
  return { method: 'POST', path: '/api/batch', headers: JSON_HEADERS, body: JSON.stringify({ requests }) }
}

/** Makes the collection and the view, allows batches of this size, and logs no requests, as the other programs. */
async function configure(server: ServerProcess): Promise<void> {
  const { url } = server
  const { token } = (await send(`${url}/api/collections/_superusers/auth-with-password`, 'POST', USER)) as {
    token: string
  }
  await send(
    `${url}/api/settings`,
    'PATCH',
    { batch: { enabled: true, maxRequests: 10_000, timeout: 60 }, logs: { maxDays: 0 } },
    token,
  )
  const open = { listRule: '', viewRule: '' }
  const collection = {
    ...open,
    name: 'records',
    type: 'base',
    createRule: '',
    updateRule: '',
    fields: Object.entries(orderRecord(1)).map(([name, value]) => fieldOf(name, value)),
    indexes: INDEXED_FIELDS.map((name) => `CREATE INDEX idx_${name} ON records (${name})`),
  }
  await send(`${url}/api/collections`, 'POST', collection, token)
  const viewQuery = 'SELECT kind AS id, count(*) AS records, avg(amount) AS mean FROM records GROUP BY kind'
  await send(`${url}/api/collections`, 'POST', { ...open, name: 'kinds', type: 'view', viewQuery }, token)
  await server.stop()
}

function fieldOf(name: string, value: unknown): object {
  if (name === 'id') {
    const ids = { min: 1, max: 32, pattern: '^[a-z0-9]+$', autogeneratePattern: '[a-z0-9]{15}' }
    return { name, type: 'text', primaryKey: true, required: true, system: true, ...ids }
  }
  const types: Record<string, string> = { number: 'number', boolean: 'bool' }
  return { name, type: types[typeof value] ?? 'text' }
}

/** Inserts the records into the table of the collection, since its API would take long. */
function insertOrders(path: string, records: number): void {
  const db = new DatabaseSync(path)
  const names = Object.keys(orderRecord(1))
  const insert = db.prepare(
    `INSERT INTO records (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
  )
  db.exec('BEGIN')
  for (let number = 1; number <= records; number += 1) {
    insert.run(...Object.values(orderRecord(number)).map(sqlValue))
  }
  db.exec('COMMIT')
  db.close()
}

async function send(url: string, method: 'POST' | 'PATCH', asked: object, token?: string): Promise<unknown> {
  const headers = token === undefined ? JSON_HEADERS : { ...JSON_HEADERS, authorization: token }
  const answer = await request(url, { method, headers, body: JSON.stringify(asked) })
  const text = await answer.body.text()
  if (answer.statusCode !== 200) throw new Error(`${url} -> ${answer.statusCode}: ${text.slice(0, 300)}`)
  return JSON.parse(text) as unknown
}

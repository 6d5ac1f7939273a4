import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { benchId } from '../support/bench-sheet.ts'
import { INDEXED_FIELDS, writeOrdersCsv } from '../support/orders.ts'
import { runCommand, startServerAt, type Command } from '../support/processes.ts'
import { groupBySql, type Program, type ProgramRequest } from '../support/program.ts'

const run = promisify(execFile)

const TABLE = '/orders/records'
const SECRET = 'bench'

/** Limits that the requests of a benchmark exceed; everything else is as it comes. */
const SETTINGS = ['max_insert_rows=10000', 'max_post_body_bytes=0', 'sql_time_limit_ms=60000']

/** Datasette with its own API for writes, which a token of its root user allows; `sqlite-utils` imports its records. */
export async function datasette(executable: string): Promise<Program> {
  const version = (await run(executable, ['--version'])).stdout.trim().split(' ').at(-1)
  const { stdout } = await run(executable, ['create-token', 'root', '--secret', SECRET])
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${stdout.trim()}` }
  const post = (path: string, asked: object): ProgramRequest => ({
    method: 'POST',
    path: `${TABLE}/${path}`,
    headers,
    body: JSON.stringify(asked),
  })
  const importCsv = (directory: string, file: string): Promise<string> =>
    importWith(executable, directory, file)
  return {
    name: `Datasette ${version}`,
    async prepare(sheets, records) {
      const directory = sheets.directory(`datasette-${records}`)
      const csv = join(directory, 'orders.csv')
      await writeOrdersCsv(csv, records)
      const database = await importCsv(directory, csv)
      return {
        start: () => startServerAt((port) => serve(executable, database, port)),
        recordPath: (id) => `${TABLE}/${id}.json`,
        pagePath: (page) => `${TABLE}.json?_size=50${page === 0 ? '' : `&_next=${benchId(page * 50)}`}`,
        write: (id, count) => post(`${id}/-/update`, { update: { count } }),
        filteredPath: ({ customer, atLeast }) =>
          `${TABLE}.json?_size=50&customer=${customer}&amount__gte=${atLeast}&_sort_desc=amount`,
        upsert: (rows) => post('-/upsert', { rows }),
        selectOne: () => query('SELECT 1'),
        groupBy: (turn) => query(groupBySql('records', turn)),
      }
    },
    importCsv,
  }
}

/** Returns the database file. It has a write-ahead log, as those of the other programs. */
async function importWith(executable: string, directory: string, csv: string): Promise<string> {
  const database = join(directory, 'orders.db')
  const utils = (...args: readonly string[]): Promise<void> =>
    runCommand({ file: join(dirname(executable), 'sqlite-utils'), args })
  await utils('insert', database, 'records', csv, '--csv', '--pk', 'id', '--silent')
  for (const field of INDEXED_FIELDS) await utils('create-index', database, 'records', field)
  await utils('enable-wal', database)
  return database
}

function serve(executable: string, database: string, port: number): Command {
  const settings = SETTINGS.flatMap((setting) => ['--setting', ...setting.split('=')])
  const where = ['--host', '127.0.0.1', '--port', String(port)]
  return { file: executable, args: ['serve', database, ...where, '--root', '--secret', SECRET, ...settings] }
}

function query(sql: string): ProgramRequest {
  return { method: 'GET', path: `/orders/-/query.json?sql=${encodeURIComponent(sql)}` }
}

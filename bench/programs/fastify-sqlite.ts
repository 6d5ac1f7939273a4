import { join } from 'node:path'
import { insertFile, openReference } from '../support/sqlite-reference.ts'
import { startServer } from '../support/processes.ts'
import type { Program } from '../support/program.ts'

/** The lower bound: half an hour of code, without a contract, provenance or derivations. */
export const fastifySqlite: Program = {
  name: 'plain Fastify with node:sqlite',
  async prepare(sheets, records) {
    const directory = await sheets.withoutStore('fastify-sqlite', { records })
    const file = join(directory, 'reference.db')
    const db = openReference(file)
    insertFile(db, join(directory, 'records.jsonl'))
    db.close()
    return {
      start: () => startServer('bench/servers/fastify-sqlite.ts', [file]),
      recordPath: (id) => `/records/${id}`,
      pagePath: (page) => `/records?limit=50&after=${page * 50}`,
      write: (id, count) => ({
        method: 'PATCH',
        path: `/records/${id}`,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ count }),
      }),
    }
  },
}

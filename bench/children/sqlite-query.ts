import { DatabaseSync } from 'node:sqlite'
import type { TimedQuery } from '../cases/sql.ts'

/** The reference for queries: runs each statement that it is sent over the file of a sheet, and sends back its times. */
const db = new DatabaseSync(String(process.argv[2]), { readOnly: true })
process.on('message', (sql: string) => {
  const used = process.cpuUsage()
  const start = performance.now()
  JSON.stringify(db.prepare(sql).all())
  const ms = performance.now() - start
  const { user, system } = process.cpuUsage(used)
  process.send?.({ ms, processorMs: (user + system) / 1000 } satisfies TimedQuery)
})
process.send?.('ready')

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PostgresCase } from '../../support/case.ts'
import { DERIVED } from '../../support/bench-sheet.ts'
import { pushSheet } from '../../support/postgres-sheets.ts'
import { serveSheet, startServer, startWorker, type ServerProcess } from '../../support/processes.ts'
import { computeCells } from '../../support/writes.ts'

/** Milliseconds until each response of the API. */
const DELAY_MS = 1000

/** One for each derivation, with the full concurrency of a host for each. */
const HOSTS = ['127.0.0.1', '127.0.0.2', '127.0.0.3']
const CALLS_AT_A_TIME = 256

/** Cells that a run with one, two and four workers computes in a second, against a slow API. */
export const workers: PostgresCase = {
  name: 'workers',
  async *run({ cells, sheets }) {
    const api = await startServer('bench/servers/slow-api.ts', [String(DELAY_MS), ...HOSTS])
    const { port } = new URL(api.url)
    const records = Math.ceil(cells / 50)
    const directory = await sheets.withoutStore('workers', { records, derivations: 'each' })
    DERIVED.forEach((target, index) => {
      const url = `http://${HOSTS[index]}:${port}/{{ id }}`
      const file = join(directory, 'derivations', `${target}.yaml`)
      writeFileSync(
        file,
        `targets: [${target}]\ninputs: [id]\nkind: http\nurl: ${url}\nresponse_path: label\n`,
      )
    })
    writeFileSync(join(directory, 'transport.yaml'), `hosts:\n  '*': { concurrency: ${CALLS_AT_A_TIME} }\n`)
    const store = await sheets.emptyDatabase()
    await pushSheet(directory, store)
    const server = await serveSheet(store)
    const working: ServerProcess[] = []
    try {
      for (const count of [1, 2, 4]) {
        while (working.length < count) working.push(await startWorker(store))
        const computed = records * DERIVED.length
        const { milliseconds } = await computeCells(server.url, { force: true }, computed)
        yield {
          kind: 'figure',
          table: 'also',
          what: `A run of ${computed.toLocaleString('en')} cells with ${count} worker${count === 1 ? '' : 's'}`,
          unit: 'cells/s',
          value: (computed * 1000) / milliseconds,
          note: `an API that takes ${DELAY_MS / 1000} s, at ${HOSTS.length} hosts with ${CALLS_AT_A_TIME} calls at a time each, and so at most ${(HOSTS.length * CALLS_AT_A_TIME * 1000) / DELAY_MS} cells/s`,
        }
      }
    } finally {
      for (const one of [...working, server, api]) await one.stop()
    }
  },
}

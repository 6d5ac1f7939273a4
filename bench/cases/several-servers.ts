import type { DirectoryCase } from '../support/case.ts'
import { median, requestsPerSecond } from '../support/load.ts'
import { orderRecord } from '../support/orders.ts'
import { serveSheet, type ServerProcess } from '../support/processes.ts'
import { WRITE_HEADERS } from '../support/writes.ts'

const SERVERS = 4
const REACH = 1500

/** Upserts by several servers on one directory, each over one connection, beside one server on another. */
export const severalServers: DirectoryCase = {
  name: 'several-servers',
  async *run({ sheets, seconds, rounds }) {
    const place = await sheets.fresh('several-servers', { records: 1, fields: 9 })
    const one = await serveSheet(await sheets.fresh('one-server', { records: 1, fields: 9 }))
    const servers: ServerProcess[] = []
    let number = 1
    const upserts = ({ url }: ServerProcess): Promise<number> =>
      requestsPerSecond({
        url,
        seconds,
        connections: 1,
        method: 'POST',
        headers: WRITE_HEADERS,
        next: () => ({
          path: '/api/records',
          body: JSON.stringify({ records: [orderRecord((number += 1))] }),
        }),
      })
    try {
      const together: number[] = []
      const alone: number[] = []
      for (let count = 0; count < SERVERS; count += 1) servers.push(await serveSheet(place))
      for (let round = 0; round < rounds; round += 1) {
        alone.push(await upserts(one))
        const rates = await Promise.all(servers.map(upserts))
        together.push(rates.reduce((sum, rate) => sum + rate, 0))
      }
      yield {
        kind: 'figure',
        table: 'reach',
        what: `POST /api/records, one record, by ${SERVERS} servers on one directory, together`,
        unit: 'requests/s',
        value: median(together),
        bound: { atLeast: REACH },
        note: `one server ${Math.round(median(alone)).toLocaleString('en')} requests/s; one connection each`,
      }
    } finally {
      for (const server of [one, ...servers]) await server.stop()
    }
  },
}

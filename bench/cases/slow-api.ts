import type { DirectoryCase } from '../support/case.ts'
import { benchId, writeDefinitions } from '../support/bench-sheet.ts'
import { CALLS_AT_A_TIME, CallsAlone } from '../support/calls-alone.ts'
import { median } from '../support/load.ts'
import { serveSheet, startServer } from '../support/processes.ts'
import { computeCells } from '../support/writes.ts'

/** Milliseconds until each response of the API. */
const DELAY_MS = 20

/** A run over an API with latency: how much longer it takes than its calls would at the concurrency of the host. */
export const slowApi: DirectoryCase = {
  name: 'slow-api',
  async *run({ sheets, cells: most, rounds }) {
    const cells = Math.ceil(most / 1000)
    const api = await startServer('bench/servers/slow-api.ts', [String(DELAY_MS)])
    const directory = await sheets.withoutStore('slow-api', { records: cells, derivations: 'each' })
    writeDefinitions(directory, { derivations: 'each' }, api.url)
    const sheet = await serveSheet(directory)
    const calls = new CallsAlone(api.url)
    const paths = Array.from({ length: cells }, (_, index) => `/0/${benchId(index + 1)}`)
    const least = Math.ceil(cells / CALLS_AT_A_TIME) * DELAY_MS
    const asked = { targets: ['label_a'], force: true }
    const run = async (): Promise<number> => (await computeCells(sheet.url, asked, cells)).milliseconds
    try {
      // Not the first run of a process.
      await run()
      const times: { ours: number; alone: number }[] = []
      for (let round = 0; round < rounds; round += 1) {
        times.push({ ours: await run(), alone: await calls.time(paths) })
      }
      const ours = median(times.map((one) => one.ours))
      const alone = median(times.map((one) => one.alone))
      yield {
        kind: 'comparison',
        table: 'reach',
        what: `Materialize ${cells.toLocaleString('en')} cells over an API that takes ${DELAY_MS} ms, ${CALLS_AT_A_TIME} at a time`,
        unit: 'ms',
        reference: `undici alone ${alone.toFixed(0)} ms; the least possible`,
        ours,
        theirs: least,
        ratio: ours / least,
        bound: { atMost: 1.08 },
      }
    } finally {
      await calls.close()
      await sheet.stop()
      await api.stop()
    }
  },
}

import pLimit from 'p-limit'
import { Agent } from 'undici'
import type { BenchCase, BenchSettings } from '../support/case.ts'
import { benchRecord, makeBenchSheet } from '../support/bench-sheet.ts'
import { compare } from '../support/load.ts'
import { serveSheet, startServer } from '../support/processes.ts'
import { timeRun } from '../support/run.ts'

const CELLS = 10_000
const CONCURRENCY = 8

/** A run over distinct http cells against a local server, beside the HTTP client alone. */
export const materialize: BenchCase = {
  name: 'materialize',
  async run({ rounds }: BenchSettings) {
    const api = await startServer('bench/servers/api.ts')
    const directory = await makeBenchSheet('materialize', { records: CELLS, api: api.url })
    const sheet = await serveSheet(directory)
    try {
      const comparison = await compare(
        rounds,
        () => runOnce(sheet.url),
        () => callOnce(api.url),
      )
      return [
        {
          what: `Materialize ${CELLS.toLocaleString('en')} distinct http cells`,
          unit: 'cells/s',
          reference: 'undici alone, same concurrency and server',
          oursPerSecond: comparison.ours,
          referencePerSecond: comparison.reference,
          ratio: comparison.ratio,
          reach: 0.4,
        },
      ]
    } finally {
      await sheet.stop()
      await api.stop()
    }
  },
}

async function runOnce(url: string): Promise<number> {
  const { materialized, milliseconds } = await timeRun(url, { targets: ['label_a'], force: true })
  if (materialized !== CELLS) throw new Error(`only ${materialized} cells were computed`)
  return (CELLS * 1000) / milliseconds
}

async function callOnce(url: string): Promise<number> {
  const agent = new Agent({ connections: CONCURRENCY, pipelining: 1 })
  const limit = pLimit(CONCURRENCY)
  const start = performance.now()
  await Promise.all(
    Array.from({ length: CELLS }, (_, index) =>
      limit(async () => {
        const path = `/0/${String(benchRecord(index + 1)['id'])}`
        const { body } = await agent.request({ origin: url, path, method: 'GET' })
        await body.json()
      }),
    ),
  )
  const cellsPerSecond = (CELLS * 1000) / (performance.now() - start)
  await agent.close()
  return cellsPerSecond
}

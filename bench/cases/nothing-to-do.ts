import type { BenchCase, BenchSettings } from '../support/case.ts'
import { makeBenchSheet } from '../support/bench-sheet.ts'
import { median } from '../support/load.ts'
import { serveSheet, startServer } from '../support/processes.ts'
import { timeRun } from '../support/run.ts'

const CELLS = 100_000

/** Runs timed in a round. */
const RUNS = 20

/** A run over cells that are all fresh: what it costs to find out that there is nothing to do. */
export const nothingToDo: BenchCase = {
  name: 'nothing-to-do',
  async run({ rounds }: BenchSettings) {
    const api = await startServer('bench/servers/api.ts')
    const directory = await makeBenchSheet('nothing-to-do', { records: CELLS, api: api.url })
    const sheet = await serveSheet(directory)
    const request = { targets: ['label_a'] }
    try {
      const { materialized } = await timeRun(sheet.url, request)
      if (materialized !== CELLS) throw new Error(`only ${materialized} cells were computed`)
      const times: number[] = []
      for (let count = 0; count < rounds * RUNS; count += 1) {
        const { skipped, milliseconds } = await timeRun(sheet.url, request)
        if (skipped !== CELLS) throw new Error(`only ${skipped} cells were fresh`)
        times.push(milliseconds)
      }
      const what = `A run with nothing to do, ${CELLS.toLocaleString('en')} fresh cells`
      return [{ what, milliseconds: median(times), atMostMs: 50 }]
    } finally {
      await sheet.stop()
      await api.stop()
    }
  },
}

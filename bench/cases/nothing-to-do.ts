import type { BenchCase } from '../support/case.ts'
import { median } from '../support/load.ts'
import { serveSheet } from '../support/processes.ts'
import { computeCells, timeRun } from '../support/writes.ts'

/** Timed runs in a round. */
const RUNS = 20

/** A run over cells that are all fresh: the cost of finding that there is nothing to do. */
export const nothingToDo: BenchCase = {
  name: 'nothing-to-do',
  async *run({ cells: most, rounds, sheets }) {
    const cells = Math.ceil(most / 10)
    const place = await sheets.fresh('nothing-to-do', { records: cells, derivations: 'each' })
    const sheet = await serveSheet(place)
    const asked = { targets: ['label_a'] }
    try {
      await computeCells(sheet.url, asked, cells)
      const times: number[] = []
      for (let count = 0; count < rounds * RUNS; count += 1) {
        const { skipped, milliseconds } = await timeRun(sheet.url, asked)
        if (skipped !== cells) throw new Error(`only ${skipped} cells were fresh`)
        times.push(milliseconds)
      }
      yield {
        kind: 'figure',
        table: 'reach',
        what: `A run with nothing to do, ${cells.toLocaleString('en')} fresh cells`,
        unit: 'ms',
        value: median(times),
        bound: { atMost: 50 },
      }
    } finally {
      await sheet.stop()
    }
  },
}

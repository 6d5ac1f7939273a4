import type { BenchCase } from '../support/case.ts'
import { benchId, DERIVED } from '../support/bench-sheet.ts'
import { CallsAlone } from '../support/calls-alone.ts'
import { median, quantile, scattered } from '../support/load.ts'
import { serveSheet } from '../support/processes.ts'
import { computeCells, postRecords, upsertBody } from '../support/writes.ts'

const CHANGED = 10

/** Timed runs in a round. */
const RUNS = 5

const DAY_MS = 86_400_000

/** A run over very many cells of which a few are stale: a new day in 10 records, each of which needs a call. */
export const fewStale: BenchCase = {
  name: 'few-stale',
  async *run({ cells: most, rounds, api, sheets }) {
    const records = Math.ceil(most / DERIVED.length)
    const cells = records * DERIVED.length
    const place = await sheets.fresh('few-stale', { records, derivations: 'together' })
    const sheet = await serveSheet(place)
    const calls = new CallsAlone(api)
    const number = scattered(records)
    const times: number[] = []
    const alone: number[] = []
    try {
      await computeCells(sheet.url, {}, cells)
      for (let run = 0; run < rounds * RUNS; run += 1) {
        const days = Array.from({ length: CHANGED }, (_, index) => dayNumber(run * CHANGED + index))
        const changed = new Set<number>()
        while (changed.size < CHANGED) changed.add(number())
        const inputs = [...changed].map((record, index) => ({ id: benchId(record), day: days[index] }))
        await postRecords(sheet.url, upsertBody(inputs))
        const stale = CHANGED * DERIVED.length
        times.push((await computeCells(sheet.url, {}, stale)).milliseconds)
        alone.push(await calls.time(days.map((day) => `/days/${day}`)))
      }
      yield {
        kind: 'figure',
        table: 'reach',
        what: `A run with ${CHANGED * DERIVED.length} stale of ${cells.toLocaleString('en')} cells, ${CHANGED} calls`,
        unit: 'ms',
        value: median(times),
        bound: { atMost: 100 + median(alone) },
        note: `the calls alone ${median(alone).toFixed(1)} ms; slowest run ${quantile(times, 1).toFixed(1)} ms`,
      }
    } finally {
      await calls.close()
      await sheet.stop()
    }
  },
}

/** Returns a day that no record of the bench sheet has. */
function dayNumber(number: number): string {
  return new Date(Date.UTC(2030, 0, 1) + number * DAY_MS).toISOString().slice(0, 10)
}

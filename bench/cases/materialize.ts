import type { BenchCase } from '../support/case.ts'
import { benchId } from '../support/bench-sheet.ts'
import { CallsAlone } from '../support/calls-alone.ts'
import { compare } from '../support/load.ts'
import { isStore, serveSheet } from '../support/processes.ts'
import { computeCells } from '../support/writes.ts'

/** Runs over distinct http cells against a local server, beside the HTTP client alone. */
export const materialize: BenchCase = {
  name: 'materialize',
  async *run({ cells: most, seconds, rounds, api, sheets }) {
    const cells = Math.ceil(most / 100)
    const place = await sheets.fresh('materialize', { records: cells, derivations: 'each' })
    const sheet = await serveSheet(place)
    const paths = Array.from({ length: cells }, (_, index) => `/0/${benchId(index + 1)}`)
    /** Computes all cells, `once` in that many milliseconds, repeatedly for as long as other rows are measured. */
    const perSecond = async (once: () => Promise<number>): Promise<number> => {
      let times = 0
      let milliseconds = 0
      do {
        milliseconds += await once()
        times += 1
      } while (milliseconds < seconds * 1000)
      return (times * cells * 1000) / milliseconds
    }
    try {
      const comparison = await compare(
        // Twice as often as elsewhere: three threads and the API share two processors, which varies more.
        rounds * 2,
        () =>
          perSecond(async () => {
            const asked = { targets: ['label_a'], force: true }
            return (await computeCells(sheet.url, asked, cells)).milliseconds
          }),
        () =>
          perSecond(async () => {
            const calls = new CallsAlone(api)
            const milliseconds = await calls.time(paths)
            await calls.close()
            return milliseconds
          }),
      )
      yield {
        kind: 'comparison',
        table: 'reach',
        what: `Materialize ${cells.toLocaleString('en')} distinct http cells`,
        unit: 'cells/s',
        reference: 'undici alone, same concurrency and server',
        ...comparison,
        bound: { atLeast: isStore(place) ? 0.3 : 0.4 },
      }
    } finally {
      await sheet.stop()
    }
  },
}

import { colophon } from '../programs/colophon.ts'
import type { DirectoryCase } from '../support/case.ts'
import { measureAlone } from '../support/compare-programs.ts'
import { filteredPage } from '../support/measures.ts'

/** Twice what PocketBase does on the machine of RESULTS.md; `--peers` measures both. */
const SMALL_REACH = 4600
const REACH = 5000

/** Pages with a condition and an order on indexed fields, no two of them the same, of a small and of a larger sheet. */
export const filteredPages: DirectoryCase = {
  name: 'filtered-pages',
  async *run(bench) {
    const sizes = [
      { records: Math.min(1000, bench.records), reach: SMALL_REACH },
      { records: Math.ceil(bench.records / 10), reach: REACH },
    ]
    for (const { records, reach } of sizes) {
      const [value = Number.NaN] = await measureAlone(bench, colophon(9), {
        records,
        measures: [filteredPage],
      })
      yield {
        kind: 'figure',
        table: 'reach',
        what: `${filteredPage.what}, ${records.toLocaleString('en')} records`,
        unit: filteredPage.unit,
        value,
        bound: { atLeast: reach },
      }
    }
  },
}

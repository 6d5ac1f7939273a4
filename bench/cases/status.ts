import type { BenchCase } from '../support/case.ts'
import { DERIVED } from '../support/bench-sheet.ts'
import { median, quantile, timeRequests } from '../support/load.ts'
import { serveSheet } from '../support/processes.ts'

const REQUESTS = 100

/** The status of all derived fields of a large sheet. */
export const status: BenchCase = {
  name: 'status',
  async *run({ records, sheets }) {
    const sheet = await serveSheet(await sheets.shared(records))
    try {
      const times = await timeRequests(
        sheet.url,
        Array.from({ length: REQUESTS }, () => '/api/status'),
      )
      const what = `GET /api/status, ${records.toLocaleString('en')} records × ${DERIVED.length} targets`
      const common = { kind: 'figure', table: 'reach', unit: 'ms', bound: { atMost: 100 } } as const
      yield { ...common, what: `${what}, median of ${REQUESTS}`, value: median(times) }
      yield { ...common, what: 'the same, the worst of these', value: quantile(times, 1) }
    } finally {
      await sheet.stop()
    }
  },
}

import { join } from 'node:path'
import { wholeRecord } from '../../support/bench-sheet.ts'
import type { PostgresCase } from '../../support/case.ts'
import { compare } from '../../support/load.ts'
import { TELLS_MEMORY } from '../../support/memory.ts'
import { pushSheet } from '../../support/postgres-sheets.ts'
import { runProgram } from '../../support/processes.ts'
import { watched } from '../../support/watched.ts'

const REFERENCE = new URL('../../children/postgres-copy.ts', import.meta.url)

/** The first push of a directory with records.jsonl, beside node-postgres. */
export const postgresImport: PostgresCase = {
  name: 'import',
  async *run({ records, rounds, sheets }) {
    const directory = await sheets.withoutStore('import', { records, derivations: 'each' })
    let most = 0
    const comparison = await compare(
      rounds,
      async () => {
        const url = await sheets.emptyDatabase()
        const { seconds, peakMb } = await watched((onStart) => pushSheet(directory, url, onStart))
        most = Math.max(most, peakMb)
        return seconds
      },
      async () => {
        const args = [
          join(directory, 'records.jsonl'),
          await sheets.emptyDatabase(),
          JSON.stringify(wholeRecord(1)),
        ]
        return (await watched((onStart) => runProgram(REFERENCE, args, onStart))).seconds
      },
    )
    const what = `of ${records.toLocaleString('en')} records × 20 fields`
    yield {
      kind: 'comparison',
      table: 'reach',
      what: `First push ${what}`,
      unit: 's',
      reference: 'node-postgres, COPY of the same rows',
      ...comparison,
      bound: { atMost: 3 },
    }
    if (!TELLS_MEMORY) return
    yield {
      kind: 'figure',
      table: 'also',
      what: `Most memory during the first push ${what}`,
      unit: 'MB',
      value: most,
    }
  },
}

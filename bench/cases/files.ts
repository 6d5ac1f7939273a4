import { join } from 'node:path'
import type { BenchSheets } from '../support/bench-sheets.ts'
import type { BenchCase, BenchRow } from '../support/case.ts'
import { download } from '../support/download.ts'
import { TELLS_MEMORY } from '../support/memory.ts'
import { placeArgs, runProgram, serveSheet } from '../support/processes.ts'
import { watched, type Watched } from '../support/watched.ts'

/** Export of all records of a sheet to a CSV file, and import into an empty sheet; first a smaller one, then the large one. */
export const files: BenchCase = {
  name: 'files',
  async *run({ sheets, records }) {
    for (const count of [Math.ceil(records / 10), records]) {
      const file = join(sheets.directory('files'), 'all.csv')
      const counted = `${count.toLocaleString('en')} records`
      yield* rows(count, `GET /api/export/csv of ${counted}`, await exportAll(sheets, count, file))
      yield* rows(count, `colophon import of ${counted} of CSV, checked first`, await importAll(sheets, file))
    }
  },
}

async function exportAll(sheets: BenchSheets, records: number, file: string): Promise<Watched<unknown>> {
  const sheet = await serveSheet(await sheets.shared(records))
  try {
    return await watched(async (onStart) => {
      onStart(sheet.pid)
      await download(`${sheet.url}/api/export/csv`, file)
    })
  } finally {
    await sheet.stop()
  }
}

async function importAll(sheets: BenchSheets, file: string): Promise<Watched<unknown>> {
  const place = await sheets.fresh('csv', { records: 0, indexed: true, derivations: 'each' })
  const args = ['import', ...placeArgs(place), file, '--actor', 'agent:bench']
  return watched((onStart) => runProgram('bin/colophon.js', args, onStart))
}

function* rows(records: number, what: string, { seconds, peakMb }: Watched<unknown>): Iterable<BenchRow> {
  const common = { kind: 'figure', table: 'also' } as const
  yield { ...common, what, unit: 'records/s', value: records / seconds }
  if (TELLS_MEMORY) yield { ...common, what: 'the most memory meanwhile', unit: 'MB', value: peakMb }
}

import { join } from 'node:path'
import type { Bench, BenchCase, BenchRow } from '../support/case.ts'
import { download } from '../support/download.ts'
import { TELLS_MEMORY } from '../support/memory.ts'
import { placeArgs, runProgram, serveSheet } from '../support/processes.ts'
import { watched, type Watched } from '../support/watched.ts'

/** All records of a large sheet out into a CSV file, and in again into an empty sheet. */
export const files: BenchCase = {
  name: 'files',
  async *run(bench) {
    const file = join(bench.sheets.directory('files'), 'all.csv')
    const count = bench.records.toLocaleString('en')
    yield* rows(bench, `GET /api/export/csv of ${count} records`, await exportAll(bench, file))
    yield* rows(
      bench,
      `colophon import of ${count} records of CSV, checked first`,
      await importAll(bench, file),
    )
  },
}

async function exportAll({ sheets, records }: Bench, file: string): Promise<Watched<unknown>> {
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

async function importAll({ sheets }: Bench, file: string): Promise<Watched<unknown>> {
  const place = await sheets.fresh('csv', { records: 0, indexed: true, derivations: 'each' })
  const args = ['import', ...placeArgs(place), file, '--actor', 'agent:bench']
  return watched((onStart) => runProgram('bin/colophon.js', args, onStart))
}

function* rows({ records }: Bench, what: string, { seconds, peakMb }: Watched<unknown>): Iterable<BenchRow> {
  const common = { kind: 'figure', table: 'also' } as const
  yield { ...common, what, unit: 'records/s', value: records / seconds }
  if (TELLS_MEMORY) yield { ...common, what: 'the most memory meanwhile', unit: 'MB', value: peakMb }
}

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench, BenchCase, BenchRow } from '../support/case.ts'
import { compare, getText } from '../support/load.ts'
import { TELLS_MEMORY } from '../support/memory.ts'
import { runProgram, serveSheet } from '../support/processes.ts'
import { watched, type Watched } from '../support/watched.ts'

const REFERENCE = new URL('../children/sqlite-import.ts', import.meta.url)

/** The first start on a directory with records.jsonl and without a store, beside node:sqlite. */
export const importing: BenchCase = {
  name: 'import',
  async *run(bench) {
    const { records, rounds } = bench
    const peaks = { ours: 0, theirs: 0 }
    const comparison = await compare(
      rounds,
      async () => {
        const { seconds, peakMb } = await importOurs(bench, records)
        peaks.ours = Math.max(peaks.ours, peakMb)
        return seconds
      },
      async () => {
        const { seconds, peakMb } = await importTheirs(bench, records)
        peaks.theirs = Math.max(peaks.theirs, peakMb)
        return seconds
      },
    )
    yield {
      kind: 'comparison',
      table: 'reach',
      what: `Import of ${records.toLocaleString('en')} records × 20 fields, until the server answers`,
      unit: 's',
      reference: 'node:sqlite inserting the same rows',
      ...comparison,
      bound: { atMost: 3 },
    }
    if (!TELLS_MEMORY) return
    const tenth = Math.ceil(records / 10)
    const [ours, theirs] = [await importOurs(bench, tenth), await importTheirs(bench, tenth)]
    yield peakRow(tenth, ours.peakMb, theirs.peakMb)
    yield peakRow(records, peaks.ours, peaks.theirs)
  },
}

async function importOurs({ sheets }: Bench, records: number): Promise<Watched<unknown>> {
  const directory = await sheets.withoutStore('import', { records, derivations: 'each' })
  const measured = await watched(async (onStart) => {
    const sheet = await serveSheet(directory, [], onStart)
    await getText(`${sheet.url}/api/healthz`)
    return sheet
  })
  await measured.result.stop()
  rmSync(directory, { recursive: true })
  return measured
}

async function importTheirs({ sheets }: Bench, records: number): Promise<Watched<unknown>> {
  const directory = await sheets.withoutStore('import-reference', { records })
  const files = [join(directory, 'records.jsonl'), join(directory, 'reference.db')]
  const measured = await watched((onStart) => runProgram(REFERENCE, files, onStart))
  rmSync(directory, { recursive: true })
  return measured
}

function peakRow(records: number, ours: number, theirs: number): BenchRow {
  return {
    kind: 'figure',
    table: 'also',
    what: `Most memory during the import of ${records.toLocaleString('en')} records`,
    unit: 'MB',
    value: ours,
    note: `the reference ${Math.round(theirs)} MB`,
  }
}

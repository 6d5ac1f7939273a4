import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { colophon } from '../programs/colophon.ts'
import type { DirectoryBench, DirectoryCase } from '../support/case.ts'
import { sizeOf, timeImport, type Imported } from '../support/csv-imports.ts'
import { getText, median } from '../support/load.ts'
import { writeOrdersCsv } from '../support/orders.ts'
import { serveSheet } from '../support/processes.ts'

const MOST_SECONDS = 15
const MOST_MB = 300

/** `colophon import` of a CSV file into an empty sheet, beside the first start on the same records in `records.jsonl`. */
export const importCommand: DirectoryCase = {
  name: 'import-command',
  async *run(bench) {
    const { sheets, records, rounds } = bench
    const csv = join(sheets.directory('csv'), 'orders.csv')
    await writeOrdersCsv(csv, records)
    const imports: Imported[] = []
    const starts: Imported[] = []
    for (let round = 0; round < rounds; round += 1) {
      imports.push((await timeImport(colophon(9), sheets, csv))!)
      starts.push(await firstStart(bench))
    }
    const figure = (of: readonly Imported[], name: keyof Imported): number =>
      median(of.map((one) => one[name]))
    const common = { kind: 'figure', table: 'reach' } as const
    yield {
      ...common,
      what: `colophon import of ${records.toLocaleString('en')} records × 9 fields of CSV`,
      unit: 's',
      value: figure(imports, 'seconds'),
      bound: { atMost: MOST_SECONDS },
      note: `the first start on the same records ${figure(starts, 'seconds').toFixed(1)} s`,
    }
    yield {
      ...common,
      what: 'the files that it leaves',
      unit: 'MB',
      value: figure(imports, 'megabytes'),
      bound: { atMost: MOST_MB },
      note: `after the first start, without records.jsonl, ${figure(starts, 'megabytes').toFixed(0)} MB`,
    }
  },
}

async function firstStart({ sheets, records }: DirectoryBench): Promise<Imported> {
  const directory = await sheets.withoutStore('first-start', { records, fields: 9 })
  const start = performance.now()
  const server = await serveSheet(directory)
  await getText(`${server.url}/api/healthz`)
  const seconds = (performance.now() - start) / 1000
  await server.stop()
  const megabytes = sizeOf(directory, ['records.jsonl'])
  rmSync(directory, { recursive: true })
  return { seconds, megabytes }
}

import type { Bench, BenchCase, BenchRow } from '../support/case.ts'
import { getText, median, scattered } from '../support/load.ts'
import { memoryOf, TELLS_MEMORY, type MemoryUse } from '../support/memory.ts'
import { serveSheet, type SheetPlace } from '../support/processes.ts'

const MOST_PAGES = 1000
const MOST_MB = 200

/** The result of a start. Times are from when the process was spawned. */
interface Start {
  readonly healthyMs: number
  readonly firstPageMs: number
  readonly afterPage: MemoryUse
  readonly afterPages: MemoryUse
}

/** Start of the server on a large sheet: its time, and its memory then and after some use. */
export const start: BenchCase = {
  name: 'start',
  async *run(bench) {
    const place = await bench.sheets.shared(bench.records)
    const starts: Start[] = []
    for (let round = 0; round < bench.rounds; round += 1) starts.push(await startOnce(place, bench))
    const common = { kind: 'figure', table: 'reach' } as const
    yield {
      ...common,
      what: `Start of the server on ${bench.records.toLocaleString('en')} records, to the first page`,
      unit: 's',
      value: median(starts.map(({ firstPageMs }) => firstPageMs)) / 1000,
      bound: { atMost: 1 },
      note: `to GET /api/healthz ${(median(starts.map(({ healthyMs }) => healthyMs)) / 1000).toFixed(2)} s`,
    }
    if (!TELLS_MEMORY) return
    yield memoryRow(
      'its memory after the first page',
      starts.map(({ afterPage }) => afterPage),
    )
    yield memoryRow(
      `its memory after ${pagesOf(bench).toLocaleString('en')} random pages`,
      starts.map(({ afterPages }) => afterPages),
    )
  },
}

async function startOnce(place: SheetPlace, bench: Bench): Promise<Start> {
  const spawned = performance.now()
  const sheet = await serveSheet(place)
  try {
    await getText(`${sheet.url}/api/healthz`)
    const healthyMs = performance.now() - spawned
    await getText(`${sheet.url}/api/records?limit=50`)
    const firstPageMs = performance.now() - spawned
    const afterPage = memoryOf(sheet.pid)
    const position = scattered(bench.records)
    for (let count = 0; count < pagesOf(bench); count += 1) {
      await getText(`${sheet.url}/api/records?limit=50&position=${position() - 1}`)
    }
    return { healthyMs, firstPageMs, afterPage, afterPages: memoryOf(sheet.pid) }
  } finally {
    await sheet.stop()
  }
}

function pagesOf({ records }: Bench): number {
  return Math.min(MOST_PAGES, records)
}

function memoryRow(what: string, uses: readonly MemoryUse[]): BenchRow {
  return {
    kind: 'figure',
    table: 'reach',
    what,
    unit: 'MB',
    value: median(uses.map(({ total }) => total)),
    bound: { atMost: MOST_MB },
    note: `server ${megabytes(uses.map(({ own }) => own))}, its children ${megabytes(uses.map(({ children }) => children))}`,
  }
}

function megabytes(values: readonly number[]): string {
  return `${Math.round(median(values))} MB`
}

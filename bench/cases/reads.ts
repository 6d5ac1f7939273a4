import type { Bench, BenchCase, BenchRow, BenchSettings } from '../support/case.ts'
import { benchId } from '../support/bench-sheet.ts'
import { compare, getText, requestsPerSecond, scattered } from '../support/load.ts'
import { serveSheet, startServer, type ServerProcess } from '../support/processes.ts'

const PAGES = 500

/** Reads over HTTP: a record, the same page repeatedly, random pages of a large sheet. */
export const reads: BenchCase = {
  name: 'reads',
  async *run(bench) {
    const sheet = await serveSheet(await bench.sheets.shared(bench.records))
    const bare = await startServer('bench/servers/bare.ts')
    try {
      const servers = { sheet, bare }
      yield row(bench, servers, {
        what: 'GET /api/records/{id}',
        reach: 0.6,
        paths: [`/api/records/${benchId(7)}`],
      })
      yield row(bench, servers, {
        what: 'GET /api/records?limit=50, the same page',
        reach: 0.6,
        paths: ['/api/records?limit=50'],
      })
      yield row(bench, servers, {
        what: `the same, random pages of ${bench.records.toLocaleString('en')} records`,
        reach: 0.25,
        paths: await somePages(sheet.url, bench),
      })
    } finally {
      await sheet.stop()
      await bare.stop()
    }
  },
}

/** Returns pages from all over the sheet, each by its cursor. */
async function somePages(url: string, { records }: Bench): Promise<string[]> {
  const place = scattered(Math.max(1, records - 50))
  const paths: string[] = []
  for (let count = 0; count < PAGES; count += 1) {
    const page = JSON.parse(
      await getText(`${url}/api/records?fields=id&limit=1&position=${place() - 1}`),
    ) as {
      next_cursor: string
    }
    paths.push(`/api/records?limit=50&cursor=${page.next_cursor}`)
  }
  return paths
}

interface Measured {
  readonly what: string
  readonly reach: number
  readonly paths: readonly string[]
}

async function row(
  { seconds, rounds }: BenchSettings,
  { sheet, bare }: { sheet: ServerProcess; bare: ServerProcess },
  { what, reach, paths }: Measured,
): Promise<BenchRow> {
  const first = paths[0] ?? '/'
  const text = await getText(sheet.url + first)
  await fetch(`${bare.url}/answer`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
  })
  let turn = 0
  const next = (): { path: string } => ({ path: paths[(turn += 1) % paths.length] ?? first })
  const comparison = await compare(
    rounds,
    () => requestsPerSecond({ url: sheet.url, seconds, next }),
    () => requestsPerSecond({ url: bare.url, seconds, next: () => ({ path: '/answer' }) }),
  )
  return {
    kind: 'comparison',
    table: 'reach',
    what,
    unit: 'requests/s',
    reference: 'bare Fastify, the same bytes',
    ...comparison,
    bound: { atLeast: reach },
  }
}

import type { BenchCase, BenchRow, BenchSettings } from '../support/case.ts'
import { benchRecord, makeBenchSheet } from '../support/bench-sheet.ts'
import { compare, requestsPerSecond } from '../support/load.ts'
import { serveSheet, startServer, type ServerProcess } from '../support/processes.ts'

/** Reading over HTTP: a record, the same page again and again, random pages of a large sheet. */
export const reads: BenchCase = {
  name: 'reads',
  async run(settings) {
    const directory = await makeBenchSheet('reads', { records: settings.records })
    const sheet = await serveSheet(directory)
    const bare = await startServer('bench/servers/bare.ts')
    try {
      const cursors = await someCursors(sheet.url, settings.records)
      return [
        await row(
          settings,
          { sheet, bare },
          { what: 'GET /api/records/{id}', reach: 0.6, paths: [recordPath(7)] },
        ),
        await row(
          settings,
          { sheet, bare },
          {
            what: 'GET /api/records?limit=50, the same page',
            reach: 0.6,
            paths: ['/api/records?limit=50'],
          },
        ),
        await row(
          settings,
          { sheet, bare },
          {
            what: `the same, random pages of ${settings.records.toLocaleString('en')} records`,
            reach: 0.25,
            paths: cursors.map((cursor) => `/api/records?limit=50&cursor=${cursor}`),
          },
        ),
      ]
    } finally {
      await sheet.stop()
      await bare.stop()
    }
  },
}

function recordPath(number: number): string {
  return `/api/records/${String(benchRecord(number)['id'])}`
}

/** Cursors of pages all over the sheet. */
async function someCursors(url: string, records: number): Promise<string[]> {
  const limit = Math.max(1, Math.min(10_000, Math.floor(records / 500)))
  const cursors: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`
    const answer = await fetch(`${url}/api/records?fields=id&limit=${limit}${query}`)
    const page = (await answer.json()) as { next_cursor: string | null }
    cursor = page.next_cursor
    if (cursor !== null) cursors.push(cursor)
  }
  return shuffled(cursors.slice(0, -1))
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item, index) => ({ item, order: (index * 7919) % items.length }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ item }) => item)
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
  const text = await (await fetch(sheet.url + first)).text()
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
    what,
    unit: 'requests/s',
    reference: 'bare Fastify, the same bytes',
    oursPerSecond: comparison.ours,
    referencePerSecond: comparison.reference,
    ratio: comparison.ratio,
    reach,
  }
}

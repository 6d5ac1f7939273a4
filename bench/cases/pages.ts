import type { Bench, BenchCase, BenchRow } from '../support/case.ts'
import { benchCode, benchId, CODES } from '../support/bench-sheet.ts'
import { compare, getText, requestsPerSecond, scattered } from '../support/load.ts'
import { serveSheet, type ServerProcess } from '../support/processes.ts'

const LIMIT = 50

/** Two sheets, one with many more records than the other. */
interface Pair {
  readonly large: Served
  readonly small: Served
}

interface Served {
  readonly server: ServerProcess
  readonly records: number
}

/** The requests to each of the sheets; the paths are used in turn. */
interface Asked {
  readonly what: string
  paths(sheet: Served): readonly string[] | Promise<readonly string[]>
}

/** In creation order, and sorted and filtered by an indexed field. */
const ASKED: readonly Asked[] = [
  { what: 'First page', paths: () => [`/api/records?limit=${LIMIT}`] },
  { what: 'Last page, by its cursor', paths: async (sheet) => [await lastPage(sheet, '')] },
  { what: 'One record by id, any of them', paths: ({ records }) => recordPaths(records) },
  {
    what: 'A page at a position in the middle',
    paths: ({ records }) => [`/api/records?limit=${LIMIT}&position=${Math.floor(records / 2)}`],
  },
  { what: 'First page, sorted by an indexed field', paths: () => [`/api/records?limit=${LIMIT}&sort=code`] },
  {
    what: 'Last page of these, by its cursor',
    paths: async (sheet) => [await lastPage(sheet, '&sort=code')],
  },
  { what: 'A page filtered on an indexed field', paths: ({ records }) => filteredPaths(records) },
]

/** Pages and records of a large sheet beside those of a small one: the size of the sheet must not matter. */
export const pages: BenchCase = {
  name: 'pages',
  async *run(bench) {
    const { records, sheets } = bench
    const few = Math.min(1000, Math.ceil(records / 2))
    const large = { records, server: await serveSheet(await sheets.shared(records)) }
    const small = { records: few, server: await serveSheet(await sheets.shared(few)) }
    try {
      for (const asked of ASKED) yield await row(bench, { large, small }, asked)
    } finally {
      await large.server.stop()
      await small.server.stop()
    }
  },
}

async function row({ seconds, rounds }: Bench, { large, small }: Pair, asked: Asked): Promise<BenchRow> {
  const perSecond = async (sheet: Served): Promise<() => Promise<number>> => {
    const paths = await asked.paths(sheet)
    // Whatever starts with the first request of its kind does not depend on the size.
    await getText(sheet.server.url + paths[0]!)
    let turn = 0
    const next = (): { path: string } => ({ path: paths[(turn += 1) % paths.length]! })
    return () => requestsPerSecond({ url: sheet.server.url, seconds, next })
  }
  const { ours, theirs, ratio } = await compare(rounds, await perSecond(large), await perSecond(small))
  const name = ({ records }: Served): string => `${records.toLocaleString('en')} records`
  return {
    kind: 'comparison',
    table: 'reach',
    what: `${asked.what}, ${name(large)}`,
    unit: 'requests/s',
    reference: name(small),
    ours,
    theirs,
    // The ratio of times, which is the inverse of that of rates.
    ratio: 1 / ratio,
    bound: { atMost: 1.5 },
  }
}

async function lastPage({ server, records }: Served, order: string): Promise<string> {
  const before = `${server.url}/api/records?limit=1${order}&position=${Math.max(0, records - LIMIT - 1)}`
  const { next_cursor: cursor } = JSON.parse(await getText(before)) as { next_cursor: string }
  return `/api/records?limit=${LIMIT}${order}&cursor=${cursor}`
}

function recordPaths(records: number): string[] {
  const number = scattered(records)
  return Array.from({ length: 100_000 }, () => `/api/records/${benchId(number())}`)
}

/** Returns paths with filters that each match about as many records as a page has. */
function filteredPaths(records: number): string[] {
  const width = Math.floor((CODES / records) * LIMIT)
  const from = scattered(CODES - width)
  return Array.from({ length: 1000 }, () => {
    const start = from()
    const filter = `code >= '${benchCode(start)}' AND code < '${benchCode(start + width)}'`
    return `/api/records?limit=${LIMIT}&filter=${encodeURIComponent(filter)}`
  })
}

import { request } from 'undici'
import { benchId } from './bench-sheet.ts'
import { getText, median, requestsPerSecond, scattered } from './load.ts'
import { mappedMemoryOf, memoryOf, TELLS_MEMORY } from './memory.ts'
import { changedOrders, orderFilters } from './orders.ts'
import type { ServerProcess } from './processes.ts'
import type { Prepared, ProgramRequest } from './program.ts'

const WRITES = 10
const AGGREGATIONS = 3
const UPSERTS = 6

/** Records of a large upsert. */
const BATCH = 10_000

/** A started program, which has returned its first page. */
export interface Running {
  readonly program: Prepared
  readonly server: ServerProcess
  /** Milliseconds from spawning it to its first page. */
  readonly startMs: number
  readonly records: number
  readonly seconds: number
}

/** A figure that any program can be measured for. */
export interface Measure {
  readonly what: string
  readonly unit: string
  readonly better: 'less' | 'more'
  /** Returns the figure; null if the program cannot do it. */
  measure(running: Running): number | null | Promise<number | null>
}

/** Starts a program, and measures one figure after the other. */
export async function measureOnce(
  program: Prepared,
  measures: readonly Measure[],
  size: Pick<Running, 'records' | 'seconds'>,
): Promise<(number | null)[]> {
  const spawned = performance.now()
  const server = await program.start()
  try {
    await getText(server.url + program.pagePath(0))
    const startMs = performance.now() - spawned
    const figures: (number | null)[] = []
    for (const { measure } of measures) figures.push(await measure({ program, server, startMs, ...size }))
    return figures
  } finally {
    await server.stop()
  }
}

export const startTime: Measure = {
  what: 'Start to the first page',
  unit: 'ms',
  better: 'less',
  measure: ({ startMs }) => startMs,
}

export const memoryAtStart: Measure = {
  what: 'Memory at start, RSS of all processes',
  unit: 'MB',
  better: 'less',
  measure: ({ server }) => memory(server, 'rss'),
}

export const recordById: Measure = {
  what: 'Record by id',
  unit: 'requests/s',
  better: 'more',
  measure: (running) => {
    const number = scattered(running.records)
    return perSecond(running, () => running.program.recordPath(benchId(number())))
  },
}

export const pageOf50: Measure = {
  what: 'Page of 50',
  unit: 'requests/s',
  better: 'more',
  measure: (running) => {
    const page = scattered(Math.max(1, Math.floor(running.records / 50)))
    return perSecond(running, () => running.program.pagePath(page() - 1))
  },
}

export const filteredPage: Measure = {
  what: 'Filtered and sorted page, fields indexed',
  unit: 'requests/s',
  better: 'more',
  measure: (running) => {
    const { program, records } = running
    if (program.filteredPath === undefined) return null
    const filter = orderFilters(records)
    return perSecond(running, () => program.filteredPath!(filter()))
  },
}

export const oneWrite: Measure = {
  what: 'One write',
  unit: 'ms',
  better: 'less',
  measure: ({ program, server, records }) => {
    const number = scattered(records)
    const count = Math.floor(performance.now() * 1000)
    return medianTime(server, WRITES, (turn) => program.write(benchId(number()), count + turn))
  },
}

export const bulkUpsert: Measure = {
  what: 'Upsert of 10,000 records in one request',
  unit: 'ms',
  better: 'less',
  measure: ({ program, server, records }) => {
    const first = Math.floor(performance.now())
    return medianTime(server, UPSERTS, (turn) =>
      program.upsert?.(changedOrders(records, BATCH, first + turn)),
    )
  },
}

export const selectOne: Measure = {
  what: 'SQL: SELECT 1',
  unit: 'ms',
  better: 'less',
  // For long enough that processes which start with the first query are there for most of them.
  measure: async ({ program, server, seconds }) => {
    const until = performance.now() + seconds * 1000
    const times: number[] = []
    do {
      const asked = program.selectOne?.()
      if (asked === undefined) return null
      times.push(await timeOf(server.url, asked))
    } while (performance.now() < until)
    return median(times)
  },
}

export const groupBy: Measure = {
  what: 'GROUP BY over all records',
  unit: 'ms',
  better: 'less',
  measure: ({ program, server }) => medianTime(server, AGGREGATIONS, (turn) => program.groupBy?.(turn)),
}

export const memoryAfterQueries: Measure = {
  what: 'Memory after these pages and queries, PSS of all processes',
  unit: 'MB',
  better: 'less',
  measure: ({ server }) => memory(server, 'pss'),
}

/** Without pages of files. */
export const memoryThen: Measure = {
  what: 'Memory then',
  unit: 'MB',
  better: 'less',
  measure: ({ server }) => (TELLS_MEMORY ? memoryOf(server.pid).total : null),
}

function memory({ pid }: ServerProcess, kind: 'rss' | 'pss'): number | null {
  return TELLS_MEMORY ? mappedMemoryOf(pid)[kind] : null
}

/** Requests paths as fast as responses arrive. Throws if the first has no record, so that no figure is that of empty pages. */
async function perSecond({ server, seconds }: Running, path: () => string): Promise<number> {
  const first = server.url + path()
  const text = await getText(first)
  if (!/"id": ?"r\d{8}"/.test(text)) throw new Error(`${first} has no record: ${text.slice(0, 300)}`)
  return requestsPerSecond({ url: server.url, seconds, next: () => ({ path: path() }) })
}

/** Sends one request after the other; returns the median in milliseconds, or null for a program without this request. */
async function medianTime(
  { url }: ServerProcess,
  times: number,
  requestOf: (turn: number) => ProgramRequest | undefined,
): Promise<number | null> {
  const measured: number[] = []
  for (let turn = 0; turn < times; turn += 1) {
    const asked = requestOf(turn)
    if (asked === undefined) return null
    measured.push(await timeOf(url, asked))
  }
  return median(measured)
}

/** Sends a request to a program; returns its milliseconds. Throws if it is refused. */
export async function timeOf(url: string, { path, ...options }: ProgramRequest): Promise<number> {
  const start = performance.now()
  const { statusCode, body } = await request(url + path, options)
  const text = await body.text()
  if (statusCode < 200 || statusCode > 299) {
    throw new Error(`${url}${path} -> ${statusCode}: ${text.slice(0, 300)}`)
  }
  return performance.now() - start
}

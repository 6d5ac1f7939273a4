import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { request } from 'undici'
import type { Bench, BenchCase, BenchRow, LatencyRow } from '../support/case.ts'
import { changedRecord } from '../support/bench-sheet.ts'
import { download } from '../support/download.ts'
import { placeArgs, runProgram, serveSheet, type SheetPlace } from '../support/processes.ts'
import { latencyRow, SteadyReader, type SteadyReads } from '../support/steady-reads.ts'
import { computeCells, postRecords, upsertBody } from '../support/writes.ts'

const P99_AT_MOST_MS = 20
const BATCH = 10_000
const QUERY_SECONDS = 5

/** Work that runs while records are read. */
interface Disturbance {
  readonly name: string
  /** Whether it has a target figure. */
  readonly toReach: boolean
  /** Prepares the work before reads are timed; returns the function to run during them. */
  prepare(round: number): Promise<() => Promise<unknown>> | (() => Promise<unknown>)
}

/** Latency of reads of a record while the server has other work. */
export const latency: BenchCase = {
  name: 'latency',
  async *run(bench) {
    const { records, seconds, rounds, sheets } = bench
    const place = await sheets.copy(records)
    const querySeconds = Math.min(QUERY_SECONDS, seconds)
    const sheet = await serveSheet(place, ['--query-timeout', String(querySeconds)])
    const reader = await SteadyReader.start(sheet.url, bench)
    try {
      for (const { name, toReach, prepare } of disturbances(bench, {
        place,
        url: sheet.url,
        querySeconds,
      })) {
        const reads: SteadyReads[] = []
        for (let round = 0; round < rounds; round += 1) {
          // Small work ends quickly: the smoke test would otherwise see no request at all.
          reads.push(await reader.during(await prepare(round), Math.min(seconds, 0.2)))
        }
        const row = latencyRow(name, reads, P99_AT_MOST_MS)
        yield row
        if (toReach) yield reachRow(row)
      }
    } finally {
      reader.stop()
      await sheet.stop()
    }
  },
}

interface Place {
  readonly place: SheetPlace
  readonly url: string
  readonly querySeconds: number
}

function disturbances(bench: Bench, { place, url, querySeconds }: Place): Disturbance[] {
  const { records, cells, seconds, sheets } = bench
  const changed = Math.ceil(records / 10)
  const computed = Math.min(Math.ceil(cells / 10), Math.floor(records / bench.rounds))
  const files = sheets.directory('latency-files')
  const count = (number: number): string => number.toLocaleString('en')
  return [
    {
      name: 'nothing else',
      toReach: false,
      prepare: () => () => new Promise((resolve) => setTimeout(resolve, seconds * 1000)),
    },
    {
      name: `${count(changed)} records are upserted, ${count(Math.min(BATCH, changed))} a request`,
      toReach: true,
      prepare: (round) => {
        const bodies = upsertBodies(records, changed, round)
        return async () => {
          for (const body of bodies) await postRecords(url, body)
        }
      },
    },
    {
      name: `a query runs for ${querySeconds} s`,
      toReach: true,
      prepare: () => () => runEndlessQuery(url, querySeconds),
    },
    {
      name: `a run computes ${count(computed)} cells`,
      toReach: false,
      prepare: () => () => computeCells(url, { targets: ['label_a'], limit: computed }, computed),
    },
    {
      name: 'all records are exported as CSV',
      toReach: false,
      prepare: () => () => download(`${url}/api/export/csv`),
    },
    {
      name: `another process imports ${count(changed)} records`,
      toReach: false,
      prepare: (round) => {
        const file = join(files, `import-${round}.ndjson`)
        const lines = changedRecords(records, changed, round + bench.rounds).map((one) => JSON.stringify(one))
        writeFileSync(file, lines.join('\n'))
        return () =>
          runProgram('bin/colophon.js', ['import', ...placeArgs(place), file, '--actor', 'agent:bench'])
      },
    },
  ]
}

/** Returns records of which half are in the sheet with other values, and half are new. */
function changedRecords(records: number, count: number, round: number): Record<string, unknown>[] {
  const half = Math.ceil(count / 2)
  return Array.from({ length: count }, (_, index) =>
    changedRecord(round * half + (index < half ? index : records + index - half) + 1, round),
  )
}

function upsertBodies(records: number, count: number, round: number): Buffer[] {
  const all = changedRecords(records, count, round)
  const bodies: Buffer[] = []
  for (let start = 0; start < count; start += BATCH) bodies.push(upsertBody(all.slice(start, start + BATCH)))
  return bodies
}

/** Runs an endless query: the server stops it at its deadline, and until then it uses a processor. */
async function runEndlessQuery(url: string, seconds: number): Promise<void> {
  const sql = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n'
  const start = performance.now()
  const answer = await request(`${url}/api/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sql }),
  })
  const text = await answer.body.text()
  const took = (performance.now() - start) / 1000
  if (answer.statusCode === 400 && took > 0.95 * seconds) return
  throw new Error(`the query was over after ${took.toFixed(1)} s: ${text.slice(0, 300)}`)
}

function reachRow({ meanwhile, p99 }: LatencyRow): BenchRow {
  return {
    kind: 'figure',
    table: 'reach',
    what: `p99 of GET /api/records/{id} while ${meanwhile}`,
    unit: 'ms',
    value: p99,
    bound: { atMost: P99_AT_MOST_MS },
  }
}

import { join } from 'node:path'
import { benchId } from '../../support/bench-sheet.ts'
import type { BenchRow, PostgresCase } from '../../support/case.ts'
import { compare, getText, median, quantile, scattered, timeRequests } from '../../support/load.ts'
import { narrowRecord, writeNarrowSheet } from '../../support/narrow-sheet.ts'
import { pushSheet } from '../../support/postgres-sheets.ts'
import { runProgram, serveSheet } from '../../support/processes.ts'
import { watched } from '../../support/watched.ts'

const REFERENCE = new URL('../../children/postgres-copy.ts', import.meta.url)

/** Ten times as many as in the large sheet, with five fields. */
const TIMES = 10

const REQUESTS = 50

/** Very many records: the rate of their import, and the time of reading some of them. */
export const manyRecords: PostgresCase = {
  name: 'many-records',
  async *run({ records, sheets }) {
    const count = records * TIMES
    const directory = sheets.directory('narrow')
    await writeNarrowSheet(directory, count)
    const url = await sheets.emptyDatabase()
    const perSecond = (seconds: number): number => count / seconds
    const comparison = await compare(
      1,
      async () => perSecond((await watched((onStart) => pushSheet(directory, url, onStart))).seconds),
      async () => {
        const args = [
          join(directory, 'records.jsonl'),
          await sheets.emptyDatabase(),
          JSON.stringify(narrowRecord(1)),
        ]
        return perSecond((await watched((onStart) => runProgram(REFERENCE, args, onStart))).seconds)
      },
    )
    const common = { table: 'also', unit: 'ms' } as const
    const what = `${count.toLocaleString('en')} records × 5 fields, one indexed`
    yield {
      ...common,
      kind: 'comparison',
      table: 'reach',
      what: `First push of ${what}`,
      unit: 'records/s',
      reference: 'node-postgres, COPY of the same rows',
      ...comparison,
      bound: { atLeast: 1 / 3 },
    }
    const spawned = performance.now()
    // The cursors of last pages are found by their positions, the sorted one by reading the whole index.
    const sheet = await serveSheet(url, ['--query-timeout', '120'])
    try {
      await getText(`${sheet.url}/api/records?limit=50`)
      yield {
        ...common,
        kind: 'figure',
        what: `Start of a server on these, to the first page`,
        value: performance.now() - spawned,
      }
      for (const { name, paths } of asked(count, await lastCursors(sheet.url, count))) {
        yield timesRow(name, await timeRequests(sheet.url, paths))
      }
    } finally {
      await sheet.stop()
    }
  },
}

interface Cursors {
  readonly created: string
  readonly sorted: string
}

async function lastCursors(url: string, count: number): Promise<Cursors> {
  const cursor = async (order: string): Promise<string> => {
    const before = `${url}/api/records?limit=1&fields=id${order}&position=${Math.max(0, count - 51)}`
    const { next_cursor: next } = JSON.parse(await getText(before)) as { next_cursor: string }
    return `/api/records?limit=50${order}&cursor=${next}`
  }
  return { created: await cursor(''), sorted: await cursor('&sort=count') }
}

function asked(count: number, last: Cursors): readonly { name: string; paths: readonly string[] }[] {
  const again = (path: string): string[] => Array.from({ length: REQUESTS }, () => path)
  const number = scattered(count)
  const each = (path: (number: number) => string): string[] =>
    Array.from({ length: REQUESTS }, () => path(number()))
  return [
    { name: 'first page', paths: again('/api/records?limit=50') },
    { name: 'last page, by its cursor', paths: again(last.created) },
    { name: 'one record by id, any of them', paths: each((one) => `/api/records/${benchId(one)}`) },
    { name: 'first page, sorted by the indexed field', paths: again('/api/records?limit=50&sort=count') },
    { name: 'last page of these, by its cursor', paths: again(last.sorted) },
    {
      name: 'a page filtered on the indexed field',
      paths: each((one) => `/api/records?limit=50&filter=${encodeURIComponent(`count = ${one}`)}`),
    },
    { name: 'GET /api/status', paths: again('/api/status') },
  ]
}

function timesRow(name: string, times: readonly number[]): BenchRow {
  const worst = `of ${times.length} requests one after the other; the slowest ${quantile(times, 1).toFixed(1)} ms`
  return {
    kind: 'figure',
    table: 'also',
    what: `Of these, ${name}`,
    unit: 'ms',
    value: median(times),
    note: worst,
  }
}

import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { colophon } from '../programs/colophon.ts'
import type { BenchRow, DirectoryBench, DirectoryCase } from '../support/case.ts'
import { measureAlone } from '../support/compare-programs.ts'
import { median } from '../support/load.ts'
import { selectOne, timeOf } from '../support/measures.ts'
import { processorMsOf, TELLS_MEMORY } from '../support/memory.ts'
import { serveSheet } from '../support/processes.ts'
import { groupBySql } from '../support/program.ts'

const REFERENCE = new URL('../children/sqlite-query.ts', import.meta.url)

const QUERIES = 5
const MOST_SECONDS = 0.7
const MOST_PROCESSOR = 1.1

/** The duration of a query, and the processor time of all threads meanwhile. */
export interface TimedQuery {
  readonly ms: number
  readonly processorMs: number
}

/** SQL of users: the least query, and an aggregation over a large sheet while nothing else runs, beside node:sqlite on the same file. */
export const sql: DirectoryCase = {
  name: 'sql',
  async *run(bench) {
    const { records } = bench
    const [value = Number.NaN] = await measureAlone(bench, colophon(9), { records, measures: [selectOne] })
    yield {
      kind: 'figure',
      table: 'reach',
      what: 'POST /api/query, SELECT 1',
      unit: 'ms',
      value,
      bound: { atMost: 1.2 },
    }
    yield* aggregationRows(bench)
  },
}

async function* aggregationRows({ sheets, records, rounds }: DirectoryBench): AsyncIterable<BenchRow> {
  const place = await sheets.shared(records, 9)
  const server = await serveSheet(place)
  const reference = fork(REFERENCE, [join(place, 'sheet.db')])
  try {
    await once(reference, 'message')
    const ours: TimedQuery[] = []
    const theirs: TimedQuery[] = []
    // The first of each starts processes and reads the file.
    await queryServer(server, 0)
    await queryReference(reference, 0)
    for (let turn = 1; turn <= rounds * QUERIES; turn += 1) {
      ours.push(await queryServer(server, turn))
      theirs.push(await queryReference(reference, turn))
    }
    const what = `GROUP BY over ${records.toLocaleString('en')} records, alone`
    yield {
      kind: 'figure',
      table: 'reach',
      what,
      unit: 's',
      value: median(ours.map(({ ms }) => ms)) / 1000,
      bound: { atMost: MOST_SECONDS },
      note: `node:sqlite on the same file ${(median(theirs.map(({ ms }) => ms)) / 1000).toFixed(2)} s`,
    }
    if (!TELLS_MEMORY) return
    yield {
      kind: 'comparison',
      table: 'reach',
      what: 'its processor time, of all processes',
      unit: 'ms',
      reference: 'node:sqlite on the same file',
      ours: median(ours.map(({ processorMs }) => processorMs)),
      theirs: median(theirs.map(({ processorMs }) => processorMs)),
      ratio: median(ours.map(({ processorMs }, index) => processorMs / theirs[index]!.processorMs)),
      bound: { atMost: MOST_PROCESSOR },
    }
  } finally {
    reference.disconnect()
    await server.stop()
  }
}

async function queryServer({ url, pid }: { url: string; pid: number }, turn: number): Promise<TimedQuery> {
  const used = processorMsOf(pid)
  const ms = await timeOf(url, {
    method: 'POST',
    path: '/api/query',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sql: groupBySql('records', turn) }),
  })
  return { ms, processorMs: processorMsOf(pid) - used }
}

async function queryReference(reference: ChildProcess, turn: number): Promise<TimedQuery> {
  reference.send(groupBySql('records', turn))
  const [timed] = (await once(reference, 'message')) as [TimedQuery]
  return timed
}

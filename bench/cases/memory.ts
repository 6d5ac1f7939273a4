import { setTimeout as sleep } from 'node:timers/promises'
import { colophon } from '../programs/colophon.ts'
import type { BenchRow, DirectoryBench, DirectoryCase } from '../support/case.ts'
import { median } from '../support/load.ts'
import { filteredPage, groupBy, selectOne } from '../support/measures.ts'
import { mappedMemoryOf, TELLS_MEMORY, type MappedMemory } from '../support/memory.ts'
import { serveSheet } from '../support/processes.ts'
import { computeCells } from '../support/writes.ts'

const RUNS = 10

/** Idle for this many times as long as a measurement: 35 s, after which query processes are to be gone. */
const IDLE = 7

const AFTER_QUERIES_MB = 200
const AFTER_RUN_MB = 250

/** Memory of all processes after use: filters and SQL, then idle; and a run of many cells, then ten. */
export const memory: DirectoryCase = {
  name: 'memory',
  async *run(bench) {
    if (!TELLS_MEMORY) return
    yield* afterQueries(bench)
    yield* afterRuns(bench)
  },
}

async function* afterQueries({
  sheets,
  records: most,
  seconds,
  rounds,
}: DirectoryBench): AsyncIterable<BenchRow> {
  const records = Math.ceil(most / 10)
  const program = await colophon(9).prepare(sheets, records)
  const used: MappedMemory[] = []
  const idle: MappedMemory[] = []
  for (let round = 0; round < rounds; round += 1) {
    const server = await program.start()
    try {
      for (const { measure } of [filteredPage, selectOne, groupBy]) {
        await measure({ program, server, startMs: 0, records, seconds })
      }
      used.push(mappedMemoryOf(server.pid))
      await sleep(IDLE * seconds * 1000)
      idle.push(mappedMemoryOf(server.pid))
    } finally {
      await server.stop()
    }
  }
  yield row(`Memory after filters and SQL, ${records.toLocaleString('en')} records`, used, AFTER_QUERIES_MB)
  yield row(`the same, ${IDLE * seconds} s later`, idle, AFTER_QUERIES_MB)
}

async function* afterRuns({ sheets, cells: most }: DirectoryBench): AsyncIterable<BenchRow> {
  const cells = Math.ceil(most / 10)
  const server = await serveSheet(
    await sheets.fresh('memory-of-runs', { records: cells, derivations: 'each' }),
  )
  try {
    for (let run = 1; run <= RUNS; run += 1) {
      await computeCells(server.url, { targets: ['label_a'], force: true }, cells)
      const counted = `a run of ${cells.toLocaleString('en')} cells`
      if (run === 1) yield row(`Memory left after ${counted}`, [mappedMemoryOf(server.pid)], AFTER_RUN_MB)
    }
    yield row(`the same after ${RUNS} runs`, [mappedMemoryOf(server.pid)], AFTER_RUN_MB)
  } finally {
    await server.stop()
  }
}

function row(what: string, uses: readonly MappedMemory[], most: number): BenchRow {
  const middle = (figure: keyof MappedMemory): number => median(uses.map((use) => use[figure]))
  return {
    kind: 'figure',
    table: 'reach',
    what: `${what}, PSS of all processes`,
    unit: 'MB',
    value: middle('pss'),
    bound: { atMost: most },
    note: `${middle('processes')} processes, RSS ${middle('rss').toFixed(0)} MB`,
  }
}

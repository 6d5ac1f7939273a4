import { request } from 'undici'
import { colophon } from '../programs/colophon.ts'
import { fastifySqlite } from '../programs/fastify-sqlite.ts'
import { jsonServer } from '../programs/json-server.ts'
import { benchId } from '../support/bench-sheet.ts'
import type { Bench, BenchCase, BenchRow } from '../support/case.ts'
import { getText, median, requestsPerSecond, scattered } from '../support/load.ts'
import { memoryOf, TELLS_MEMORY } from '../support/memory.ts'
import type { Prepared, Program } from '../support/program.ts'

/** The compared programs; each has a file in bench/programs. */
const PROGRAMS: readonly Program[] = [colophon, fastifySqlite, jsonServer]

/** The most that json-server supports: the file of a million is longer than a string may be. */
const MOST_RECORDS = 500_000

const WRITES = 10

/** Alternatives that users may choose, with the same records and requests. */
export const beside: BenchCase = {
  name: 'beside',
  async *run(bench) {
    const records = Math.min(bench.records, MOST_RECORDS)
    for (const program of PROGRAMS) {
      const prepared = await program.prepare(bench.sheets, records)
      yield measure({ ...bench, records }, { name: program.name, prepared })
    }
  },
}

async function measure(bench: Bench, program: { name: string; prepared: Prepared }): Promise<BenchRow> {
  const { name, prepared } = program
  const rounds: Round[] = []
  for (let round = 0; round < bench.rounds; round += 1) rounds.push(await measureOnce(bench, prepared))
  const middle = (figure: keyof Round): number => median(rounds.map((round) => round[figure]))
  return {
    kind: 'program',
    program: `${name}, ${bench.records.toLocaleString('en')} records`,
    startMs: middle('startMs'),
    recordsPerSecond: middle('recordsPerSecond'),
    pagesPerSecond: middle('pagesPerSecond'),
    writeMs: middle('writeMs'),
    memoryMb: TELLS_MEMORY ? middle('memoryMb') : null,
  }
}

interface Round {
  readonly startMs: number
  readonly recordsPerSecond: number
  readonly pagesPerSecond: number
  readonly writeMs: number
  readonly memoryMb: number
}

async function measureOnce({ records, seconds }: Bench, program: Prepared): Promise<Round> {
  const spawned = performance.now()
  const server = await program.start()
  try {
    await getText(server.url + program.recordPath(benchId(1)))
    const startMs = performance.now() - spawned
    const number = scattered(records)
    const page = scattered(Math.max(1, Math.floor(records / 50)))
    const load = (path: () => string): Promise<number> =>
      requestsPerSecond({ url: server.url, seconds, next: () => ({ path: path() }) })
    const recordsPerSecond = await load(() => program.recordPath(benchId(number())))
    const pagesPerSecond = await load(() => program.pagePath(page() - 1))
    const writeMs = await timeWrites(server.url, (count) => program.write(benchId(number()), count))
    return { startMs, recordsPerSecond, pagesPerSecond, writeMs, memoryMb: memoryOf(server.pid).total }
  } finally {
    await server.stop()
  }
}

/** Changes one record after the other; returns the median in milliseconds. */
async function timeWrites(
  url: string,
  write: (count: number) => ReturnType<Prepared['write']>,
): Promise<number> {
  const times: number[] = []
  for (let turn = 0; turn < WRITES; turn += 1) {
    const { path, ...options } = write(Math.floor(performance.now() * 1000))
    const start = performance.now()
    const { statusCode, body } = await request(url + path, options)
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`${url}${path} -> ${statusCode}: ${text.slice(0, 300)}`)
    times.push(performance.now() - start)
  }
  return median(times)
}

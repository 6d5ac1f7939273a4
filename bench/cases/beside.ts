import { colophon } from '../programs/colophon.ts'
import { fastifySqlite } from '../programs/fastify-sqlite.ts'
import { jsonServer } from '../programs/json-server.ts'
import type { DirectoryCase } from '../support/case.ts'
import { comparePrograms } from '../support/compare-programs.ts'
import { memoryThen, oneWrite, pageOf50, recordById, startTime } from '../support/measures.ts'
import type { Program } from '../support/program.ts'

/** The compared programs; each has a file in bench/programs. */
const PROGRAMS: readonly Program[] = [colophon(20), fastifySqlite, jsonServer]

/** The most that json-server supports: the file of a million is longer than a string may be. */
const MOST_RECORDS = 500_000

/** Alternatives that users may choose, with the same records and requests. */
export const beside: DirectoryCase = {
  name: 'beside',
  async *run(bench) {
    yield* await comparePrograms(bench, {
      programs: PROGRAMS,
      records: Math.min(bench.records, MOST_RECORDS),
      measures: [startTime, recordById, pageOf50, oneWrite, memoryThen],
    })
  },
}

import { join } from 'node:path'
import { colophon } from '../programs/colophon.ts'
import type { DirectoryBench, DirectoryCase, ProgramsRow } from '../support/case.ts'
import { comparePrograms, middle } from '../support/compare-programs.ts'
import { timeImport, type Imported } from '../support/csv-imports.ts'
import {
  bulkUpsert,
  filteredPage,
  groupBy,
  memoryAfterQueries,
  memoryAtStart,
  oneWrite,
  pageOf50,
  recordById,
  selectOne,
  startTime,
  type Measure,
} from '../support/measures.ts'
import { writeOrdersCsv } from '../support/orders.ts'
import type { Program } from '../support/program.ts'

/** Filtered pages of a small sheet are to be this many times as many as those of the best peer; all else is to be as good. */
const SMALL_PAGES = 2
const SMALL = 1000

/** Their targets are absolute, or beside Fastify: see the cases `first-page` and `memory`. */
const OTHER_TARGETS: readonly Measure[] = [startTime, memoryAtStart, memoryAfterQueries]

/** Colophon beside programs that are chosen instead of it, with the same records in sheets of three sizes, and the same requests. */
export function peers(others: readonly Program[]): DirectoryCase {
  const programs = [colophon(9), ...others]
  return {
    name: 'peers',
    async *run(bench) {
      const { records } = bench
      const compare = (size: number, measures: readonly Measure[], reach = 1): Promise<ProgramsRow[]> =>
        comparePrograms(bench, {
          programs,
          records: size,
          measures,
          reach: (measure) => (OTHER_TARGETS.includes(measure) ? null : reach),
        })
      yield* await compare(Math.min(SMALL, records), [filteredPage], SMALL_PAGES)
      yield* await compare(Math.ceil(records / 10), [filteredPage, selectOne, groupBy, memoryAfterQueries])
      yield* await compare(records, [
        startTime,
        memoryAtStart,
        recordById,
        pageOf50,
        oneWrite,
        bulkUpsert,
        selectOne,
        groupBy,
      ])
      yield* await compareImports(bench, programs)
    },
  }
}

/** Imports of the same CSV file into empty directories, by commands. */
async function compareImports(
  { sheets, records, rounds }: DirectoryBench,
  programs: readonly Program[],
): Promise<ProgramsRow[]> {
  const csv = join(sheets.directory('csv'), 'orders.csv')
  await writeOrdersCsv(csv, records)
  const imported: (Imported | null)[][] = programs.map(() => [])
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, program] of programs.entries()) {
      imported[index]!.push(await timeImport(program, sheets, csv))
    }
  }
  const row = (what: string, unit: string, figure: keyof Imported, reach: number | null): ProgramsRow => ({
    kind: 'programs',
    what,
    unit,
    better: 'less',
    figures: programs.map(({ name }, index) => ({
      program: name,
      value: middle(imported[index]!.map((one) => one?.[figure] ?? null)),
    })),
    reach,
  })
  return [
    row(`Import of ${records.toLocaleString('en')} records of CSV by a command`, 's', 'seconds', 1),
    row('its files afterwards', 'MB', 'megabytes', null),
  ]
}

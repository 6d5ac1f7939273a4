import { fewStale } from './cases/few-stale.ts'
import { latency } from './cases/latency.ts'
import { materialize } from './cases/materialize.ts'
import { nothingToDo } from './cases/nothing-to-do.ts'
import { pages } from './cases/pages.ts'
import { postgresImport } from './cases/postgres/import.ts'
import { manyRecords } from './cases/postgres/many-records.ts'
import { workers } from './cases/postgres/workers.ts'
import { postgresWrites } from './cases/postgres/writes.ts'
import { reads } from './cases/reads.ts'
import { start } from './cases/start.ts'
import { status } from './cases/status.ts'
import type { PostgresCase } from './support/case.ts'

/** The cases of a store in PostgreSQL, in the order of their rows in the report. */
export const POSTGRES_CASES: readonly PostgresCase[] = [
  reads,
  postgresWrites,
  materialize,
  workers,
  nothingToDo,
  fewStale,
  pages,
  status,
  start,
  postgresImport,
  latency,
  manyRecords,
]

import { beside } from './cases/beside.ts'
import { fewStale } from './cases/few-stale.ts'
import { files } from './cases/files.ts'
import { importing } from './cases/import.ts'
import { latency } from './cases/latency.ts'
import { materialize } from './cases/materialize.ts'
import { nothingToDo } from './cases/nothing-to-do.ts'
import { pages } from './cases/pages.ts'
import { reads } from './cases/reads.ts'
import { start } from './cases/start.ts'
import { status } from './cases/status.ts'
import { viewer } from './cases/viewer.ts'
import { writes } from './cases/writes.ts'
import type { BenchCase } from './support/case.ts'

/** All cases, in the order of their rows in the report. */
export const CASES: readonly BenchCase[] = [
  reads,
  writes,
  materialize,
  nothingToDo,
  fewStale,
  pages,
  status,
  start,
  importing,
  latency,
  files,
  beside,
  viewer,
]

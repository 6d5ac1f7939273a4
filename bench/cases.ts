import { beside } from './cases/beside.ts'
import { fewStale } from './cases/few-stale.ts'
import { files } from './cases/files.ts'
import { filteredPages } from './cases/filtered-pages.ts'
import { firstPage } from './cases/first-page.ts'
import { importCommand } from './cases/import-command.ts'
import { importing } from './cases/import.ts'
import { latency } from './cases/latency.ts'
import { materialize } from './cases/materialize.ts'
import { memory } from './cases/memory.ts'
import { nothingToDo } from './cases/nothing-to-do.ts'
import { pages } from './cases/pages.ts'
import { reads } from './cases/reads.ts'
import { severalServers } from './cases/several-servers.ts'
import { slowApi } from './cases/slow-api.ts'
import { sql } from './cases/sql.ts'
import { start } from './cases/start.ts'
import { status } from './cases/status.ts'
import { viewer } from './cases/viewer.ts'
import { writes } from './cases/writes.ts'
import type { DirectoryCase } from './support/case.ts'

/** All cases, in the order of their rows in the report. */
export const CASES: readonly DirectoryCase[] = [
  reads,
  writes,
  severalServers,
  materialize,
  slowApi,
  nothingToDo,
  fewStale,
  pages,
  filteredPages,
  sql,
  status,
  start,
  firstPage,
  memory,
  importing,
  importCommand,
  latency,
  files,
  beside,
  viewer,
]

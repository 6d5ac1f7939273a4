import type { StoredRun } from '../../store/stored-run.ts'
import { listRuns } from '../runs/read-runs.ts'
import type { Sheet } from '../sheet.ts'

/** Runs that are read at once. */
const RUNS_AT_ONCE = 200

/** Yields the runs that a sheet keeps, the oldest first: they are listed from the newest on. */
export async function* runsByAge(sheet: Sheet): AsyncGenerator<StoredRun> {
  const newest = await listRuns(sheet, { limit: RUNS_AT_ONCE, cursor: null })
  const cursors: string[] = []
  for (let cursor = newest.nextCursor; cursor !== null;) {
    cursors.push(cursor)
    cursor = (await listRuns(sheet, { limit: RUNS_AT_ONCE, cursor })).nextCursor
  }
  for (const cursor of cursors.toReversed()) {
    const { runs } = await listRuns(sheet, { limit: RUNS_AT_ONCE, cursor })
    yield* runs.toReversed()
  }
  yield* newest.runs.toReversed()
}

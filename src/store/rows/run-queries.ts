import { groupNumber } from '../../errors/failure-group.ts'
import type { RunFailuresQuery } from '../sheet-store.ts'
import type { RunFailure, RunId, StoredRun } from '../stored-run.ts'
import type { Query } from './query.ts'
import { failuresPage, RUN_COLUMNS, RUNS_PAGE, storedFailures } from './run-failures.ts'
import { runNumber, storedRun, textOrNull } from './stored-rows.ts'

/** Reads a run; null for an unknown id, whatever text it is. */
export function runById(id: RunId): Query<StoredRun | null> {
  return {
    sql: `SELECT ${RUN_COLUMNS} FROM "$run" WHERE id = ?1`,
    params: [runNumber(id)],
    result: ([row]) => (row === undefined ? null : storedRun(row)),
  }
}

/** Reads the ids of the records that a run was asked for; null when it did not filter. */
export function runRecordIds(id: RunId): Query<readonly string[] | null> {
  return {
    sql: 'SELECT record_ids FROM "$run" WHERE id = ?1',
    params: [runNumber(id)],
    result: ([row]) => {
      const ids = textOrNull(row?.['record_ids'])
      return ids === null ? null : (JSON.parse(ids) as string[])
    },
  }
}

/** Reads runs before a run, newest first; `before` null starts at the newest. */
export function runsBefore({
  before,
  limit,
}: {
  readonly before: RunId | null
  readonly limit: number
}): Query<readonly StoredRun[]> {
  const end = before === null ? Number.MAX_SAFE_INTEGER : runNumber(before)
  return { sql: RUNS_PAGE, params: [end, limit], result: (rows) => rows.map(storedRun) }
}

/** Reads the actor that requested to cancel a run; null when nobody did. */
export function cancelRequest(id: RunId): Query<string | null> {
  return {
    sql: 'SELECT cancelled_by FROM "$run" WHERE id = ?1',
    params: [runNumber(id)],
    result: ([row]) => textOrNull(row?.['cancelled_by']),
  }
}

/** Reads failures of a run; see {@link SheetStore.runFailures}. */
export function runFailures({
  run,
  after,
  limit,
  group = null,
}: RunFailuresQuery): Query<readonly RunFailure[]> {
  return {
    sql: failuresPage(group !== null),
    params: [runNumber(run), after, limit, ...(group === null ? [] : [groupNumber(group)])],
    result: (rows) => storedFailures(rows, { after, limit }),
  }
}

/** Counts the entries that a run wrote. */
export function runEntryCount(run: RunId): Query<number> {
  return {
    sql: 'SELECT count(*) AS count FROM "$provenance" WHERE run = ?1',
    params: [runNumber(run)],
    result: ([row]) => Number(row?.['count']),
  }
}

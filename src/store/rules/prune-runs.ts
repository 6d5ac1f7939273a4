import type { Query, Statement } from '../rows/query.ts'
import type { PrunableRuns, PruneStep, RunPruning } from '../stored-run.ts'
import { load, type Loaded, type Steps } from './steps.ts'

/** Rows that one step removes: other writes come between steps. */
export const ROWS_AT_ONCE = 5000

/** Runs that one step removes. */
export const RUNS_AT_ONCE = 200

/** Counts the runs that can be removed. */
export function prunableRuns(which: RunPruning): Query<PrunableRuns> {
  const { where, params } = prunable(which)
  return {
    sql: `SELECT count(*) AS runs, coalesce(sum(failed), 0) AS failures FROM "$run" WHERE ${where}`,
    params,
    result: ([row]) => ({ runs: Number(row?.['runs']), failures: Number(row?.['failures']) }),
  }
}

/** Removes some of the runs that can be removed; see {@link SheetStore.pruneRuns}. */
export function* pruneRuns(
  db: { query<T>(query: Query<T>): Loaded<T>; change(statement: Statement): Loaded<number> },
  which: RunPruning,
): Steps<PruneStep> {
  const listed = yield* load(db.query(oldestPrunable(which)))
  let [runs, failures, rowsLeft] = [0, 0, ROWS_AT_ONCE]
  for (const { id, failed } of listed) {
    // Its row is removed last, so that the next step finds the rest after a crash.
    for (const part of RUN_PARTS) rowsLeft -= yield* load(db.change(removePart(part, id, rowsLeft)))
    if (rowsLeft <= 0) return { runs, failures, more: true }
    // A space is the last character before an exclamation mark.
    const usage = 'DELETE FROM "$usage" WHERE key >= ?1 AND key < ?2'
    yield* load(db.change({ sql: usage, params: [`run ${id} `, `run ${id}!`] }))
    yield* load(db.change({ sql: 'DELETE FROM "$run" WHERE id = ?1', params: [id] }))
    runs += 1
    failures += failed
  }
  return { runs, failures, more: listed.length === RUNS_AT_ONCE }
}

function oldestPrunable(
  which: RunPruning,
): Query<readonly { readonly id: number; readonly failed: number }[]> {
  const { where, params } = prunable(which)
  return {
    sql: `SELECT id, failed FROM "$run" WHERE ${where} ORDER BY id LIMIT ${RUNS_AT_ONCE}`,
    params,
    result: (rows) => rows.map(({ id, failed }) => ({ id: Number(id), failed: Number(failed) })),
  }
}

/** The tables with rows of a run beside `$run`, and their keys. */
const RUN_PARTS = [
  { table: '"$run_failure"', key: 'number' },
  { table: '"$run_body"', key: 'hash' },
] as const

/** Removes at most `limit` rows of a run. */
function removePart({ table, key }: (typeof RUN_PARTS)[number], run: number, limit: number): Statement {
  const rows = `SELECT ${key} FROM ${table} WHERE run = ?1 LIMIT ?2`
  return { sql: `DELETE FROM ${table} WHERE run = ?1 AND ${key} IN (${rows})`, params: [run, limit] }
}

function prunable({ before, keep }: RunPruning): {
  readonly where: string
  readonly params: readonly (string | number)[]
} {
  const params: (string | number)[] = []
  const add = (value: string | number): string => `?${params.push(value)}`
  const where = [`state <> 'running'`]
  if (before !== null) where.push(`ended_at < ${add(before)}`)
  if (keep > 0) where.push(`id < (SELECT id FROM "$run" ORDER BY id DESC LIMIT 1 OFFSET ${add(keep - 1)})`)
  return { where: where.join(' AND '), params }
}

/** Which of the runs that have ended to remove: those that meet every condition. */
export interface RunPruning {
  /** Those that ended before this time (ISO 8601, UTC, `Z`); null for any time. */
  readonly before: string | null
  /** All but so many of the newest runs of the sheet; 0 for all. */
  readonly keep: number
}

/** Runs that can be removed. */
export interface PrunableRuns {
  readonly runs: number
  /** Cells that failed in them. */
  readonly failures: number
}

/** A step of removing runs. */
export interface PruneStep extends PrunableRuns {
  /** Whether there may be more to remove. */
  readonly more: boolean
}

/** Rows that one step removes: writes of others come between steps. */
export const ROWS_AT_ONCE = 5000

/** Runs that one step removes. */
export const RUNS_AT_ONCE = 200

/** How an engine writes the parameter of a number, which is from 1 on. */
type Parameter = (number: number) => string

/** A statement, with what its parameters are. */
export interface PruneSql {
  readonly sql: string
  readonly params: readonly (string | number)[]
}

/** Counts the runs that can be removed. */
export function countPrunable(which: RunPruning, parameter: Parameter): PruneSql {
  const { where, params } = prunable(which, parameter)
  return {
    sql: `SELECT count(*) AS runs, coalesce(sum(failed), 0) AS failures FROM "$run" WHERE ${where}`,
    params,
  }
}

/** Lists the first of the runs that can be removed, the oldest first. */
export function listPrunable(which: RunPruning, parameter: Parameter): PruneSql {
  const { where, params } = prunable(which, parameter)
  return { sql: `SELECT id, failed FROM "$run" WHERE ${where} ORDER BY id LIMIT ${RUNS_AT_ONCE}`, params }
}

/** What belongs to a run beside its row, in tables of these names and keys. */
export const RUN_PARTS = [
  { table: '"$run_failure"', key: 'number' },
  { table: '"$run_body"', key: 'hash' },
] as const

/** SQL that removes rows of a run. Parameters: the run, and how many rows at most. */
export function removePart({ table, key }: (typeof RUN_PARTS)[number], parameter: Parameter): string {
  const run = `run = ${parameter(1)}`
  return `DELETE FROM ${table} WHERE ${run} AND ${key} IN (SELECT ${key} FROM ${table} WHERE ${run} LIMIT ${parameter(2)})`
}

/** Reads what {@link countPrunable} found. */
export function prunableRuns(row: Readonly<Record<string, unknown>> | undefined): PrunableRuns {
  return { runs: Number(row?.['runs']), failures: Number(row?.['failures']) }
}

function prunable(
  { before, keep }: RunPruning,
  parameter: Parameter,
): { readonly where: string; readonly params: readonly (string | number)[] } {
  const params: (string | number)[] = []
  const add = (value: string | number): string => parameter(params.push(value))
  const where = [`state <> 'running'`]
  if (before !== null) where.push(`ended_at < ${add(before)}`)
  if (keep > 0) where.push(`id < (SELECT id FROM "$run" ORDER BY id DESC LIMIT 1 OFFSET ${add(keep - 1)})`)
  return { where: where.join(' AND '), params }
}

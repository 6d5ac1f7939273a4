import type { EntryRef, RunEntriesQuery, RunFailuresQuery } from '../../sheet-store.ts'
import type { RunFailure, RunId, StoredRun } from '../../stored-run.ts'
import type { Connection } from '../database/connection.ts'
import { countPrunable, prunableRuns, type PrunableRuns, type RunPruning } from '../../prune-runs.ts'
import { failuresPage, RUN_COLUMNS, runsPage, storedFailures } from '../../rows/run-failures.ts'
import { runNumber, storedRun, textOrNull } from '../../rows/stored-rows.ts'

const RUNS = runsPage((number) => `?${number}`)

const FAILURES = failuresPage((number) => `?${number}`)

/** Reads what the store knows of runs. A text that is no run id is the id of no run. */
export class RunReader {
  readonly #db: Connection

  constructor(db: Connection) {
    this.#db = db
  }

  run(id: RunId): StoredRun | null {
    const row = this.#db.get(`SELECT ${RUN_COLUMNS} FROM "$run" WHERE id = ?`, runNumber(id))
    return row === undefined ? null : storedRun(row)
  }

  /** The records that a run was asked for; null when it did not filter. */
  recordIds(id: RunId): readonly string[] | null {
    const row = this.#db.get('SELECT record_ids FROM "$run" WHERE id = ?', runNumber(id))
    const ids = textOrNull(row?.['record_ids'])
    return ids === null ? null : (JSON.parse(ids) as string[])
  }

  /** Runs, newest first, before a run; `before` null starts at the newest. */
  runs({ before, limit }: { readonly before: RunId | null; readonly limit: number }): StoredRun[] {
    const end = before === null ? Number.MAX_SAFE_INTEGER : runNumber(before)
    return this.#db.all(RUNS, end, limit).map(storedRun)
  }

  /** Counts the runs that can be removed. */
  prunable(which: RunPruning): PrunableRuns {
    const { sql, params } = countPrunable(which, (number) => `?${number}`)
    return prunableRuns(this.#db.get(sql, ...params))
  }

  /** Who wants a run to end; null when nobody does. */
  cancelRequest(id: RunId): string | null {
    return textOrNull(
      this.#db.get('SELECT cancelled_by FROM "$run" WHERE id = ?', runNumber(id))?.['cancelled_by'],
    )
  }

  failures({ run, after, limit }: RunFailuresQuery): RunFailure[] {
    return storedFailures(this.#db.all(FAILURES, runNumber(run), after, limit), { after, limit })
  }

  entryCount(run: RunId): number {
    const row = this.#db.get('SELECT count(*) AS count FROM "$provenance" WHERE run = ?', runNumber(run))
    return Number(row?.['count'])
  }

  /** The cells that a run wrote, entry by entry, the last first; every line of a run is about one cell. */
  entries({ run, before, limit }: RunEntriesQuery): EntryRef[] {
    return this.#db
      .all(
        `SELECT seq, line ->> '$.record_id' AS record_id, line ->> '$.field' AS field FROM "$provenance"
         WHERE run = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
        runNumber(run),
        before ?? Number.MAX_SAFE_INTEGER,
        limit,
      )
      .map((row) => ({
        seq: Number(row['seq']),
        recordId: String(row['record_id']),
        field: String(row['field']),
      }))
  }
}

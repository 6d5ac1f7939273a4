import { parseLine } from '../../../provenance/log-line.ts'
import type { EntryRef, RunEntriesQuery, RunFailuresQuery } from '../../sheet-store.ts'
import type { RunFailure, RunId, StoredRun } from '../../stored-run.ts'
import type { Connection } from '../database/connection.ts'
import { countPrunable, prunableRuns, type PrunableRuns, type RunPruning } from '../../prune-runs.ts'
import { failuresPage, RUN_COLUMNS, runsPage, storedFailures } from '../../rows/run-failures.ts'
import { runNumber, storedRun, textOrNull } from '../../rows/stored-rows.ts'

const RUNS = runsPage((number) => `$${number}`)

const FAILURES = failuresPage((number) => `$${number}`)

/** Reads what the store knows of runs. A text that is no run id is the id of no run. */
export class RunReader {
  readonly #db: Connection

  constructor(db: Connection) {
    this.#db = db
  }

  async run(id: RunId): Promise<StoredRun | null> {
    const row = await this.#db.get(`SELECT ${RUN_COLUMNS} FROM "$run" WHERE id = $1`, runNumber(id))
    return row === undefined ? null : storedRun(row)
  }

  /** The records that a run was asked for; null when it did not filter. */
  async recordIds(id: RunId): Promise<readonly string[] | null> {
    const row = await this.#db.get('SELECT record_ids FROM "$run" WHERE id = $1', runNumber(id))
    const ids = textOrNull(row?.['record_ids'])
    return ids === null ? null : (JSON.parse(ids) as string[])
  }

  /** Runs, newest first, before a run; `before` null starts at the newest. */
  async runs(query: { readonly before: RunId | null; readonly limit: number }): Promise<StoredRun[]> {
    const { before, limit } = query
    const end = before === null ? Number.MAX_SAFE_INTEGER : runNumber(before)
    return (await this.#db.all(RUNS, end, limit)).map(storedRun)
  }

  /** Counts the runs that can be removed. */
  async prunable(which: RunPruning): Promise<PrunableRuns> {
    const { sql, params } = countPrunable(which, (number) => `$${number}`)
    return prunableRuns(await this.#db.get(sql, ...params))
  }

  /** Who wants a run to end; null when nobody does. */
  async cancelRequest(id: RunId): Promise<string | null> {
    const row = await this.#db.get('SELECT cancelled_by FROM "$run" WHERE id = $1', runNumber(id))
    return textOrNull(row?.['cancelled_by'])
  }

  async failures({ run, after, limit }: RunFailuresQuery): Promise<RunFailure[]> {
    return storedFailures(await this.#db.all(FAILURES, runNumber(run), after, limit), { after, limit })
  }

  async entryCount(run: RunId): Promise<number> {
    const sql = 'SELECT count(*) AS count FROM "$provenance" WHERE run = $1'
    return Number((await this.#db.get(sql, runNumber(run)))?.['count'])
  }

  /** The cells that a run wrote, entry by entry, the last first; every line of a run is about one cell. */
  async entries({ run, before, limit }: RunEntriesQuery): Promise<EntryRef[]> {
    const rows = await this.#db.all(
      'SELECT seq, line FROM "$provenance" WHERE run = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3',
      runNumber(run),
      before ?? Number.MAX_SAFE_INTEGER,
      limit,
    )
    return rows.map((row) => {
      // Every line of a run is of this kind.
      const line = parseLine(String(row['line'])) as unknown as { record_id: string; field: string }
      return { seq: Number(row['seq']), recordId: line.record_id, field: line.field }
    })
  }
}

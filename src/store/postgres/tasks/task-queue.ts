import { randomUUID } from 'node:crypto'
import {
  LEASE_MS,
  TaskLostError,
  type CallClaim,
  type CallToClaim,
  type LevelCut,
  type OrphanedRun,
  type RunPlace,
  type RunTask,
  type RunTasks,
  type StreakNote,
  type TakenTask,
  type TasksState,
} from '../../run-tasks.ts'
import type { CellCommit, CellOutcome, RecordKey, WorkItem, WorkQuery } from '../../cell-work.ts'
import type { RunEnd, RunError, RunId, RunLock } from '../../stored-run.ts'
import { runNumber, storedError, textOrNull } from '../../rows/stored-rows.ts'
import {
  claimCalls,
  countLostCalls,
  hasOpenCalls,
  isClaimedBy,
  releaseCalls,
  RunBounds,
  settleCalls,
} from './call-table.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import { commitCells } from '../write/commit-cells.ts'
import type { Connection } from '../database/connection.ts'
import type { Database } from '../database/database.ts'
import { JobQueue } from './job-queue.ts'
import { breakRunLock, HeldRunLock } from '../database/run-lock.ts'
import { endRun, addTaskGain } from '../write/run-writer.ts'
import { addToStreaks } from './failure-streaks.ts'
import { claimRun, findOrphan, hasLiveRun, leaveWaiting, stillWaits } from '../write/waiting-runs.ts'
import { targetIds, workKeys } from '../read/work-reader.ts'
import type { Writer } from '../write/writer.ts'

/** So many workers in a row lost with a task, before any of its results was stored, fail the task. */
const LOST_LIMIT = 5

const LEASE = `interval '${LEASE_MS} milliseconds'`

const IS_GONE = `NOT EXISTS (SELECT FROM "$worker" AS worker WHERE worker.id = task.worker AND worker.seen_at > now() - ${LEASE})`

/** The members of a task that its job stores. */
type TaskData = Omit<RunTask, 'run'> & { readonly run: number }

/** The tasks of a sheet's runs. All times are of the database's clock, so that clocks of machines do not matter. */
export class TaskQueue implements RunTasks {
  readonly #database: Database
  readonly #writer: Writer
  readonly #jobs: JobQueue

  constructor(database: Database, writer: Writer) {
    this.#database = database
    this.#writer = writer
    this.#jobs = new JobQueue(database)
  }

  async begin(run: RunId, { lastKey, lastSeq, records }: Omit<RunPlace, 'levels'>): Promise<void> {
    await this.#database.run(
      'UPDATE "$run" SET beat_at = now(), last_key = $2, scope = $3, last_seq = $4 WHERE id = $1',
      runNumber(run),
      lastKey,
      records === null ? null : JSON.stringify(records),
      lastSeq,
    )
  }

  async place(run: RunId): Promise<RunPlace | null> {
    const sql = 'SELECT last_key, last_seq, scope, levels FROM "$run" WHERE id = $1 AND last_key IS NOT NULL'
    const row = await this.#database.get(sql, runNumber(run))
    if (row === undefined) return null
    const scope = textOrNull(row['scope'])
    const records = scope === null ? null : (JSON.parse(scope) as RecordKey[])
    const [lastKey, lastSeq, levels] = [row['last_key'], row['last_seq'], row['levels']].map(Number)
    return { lastKey, lastSeq, records, levels } as RunPlace
  }

  workKeys(query: Omit<WorkQuery, 'inputs'>): Promise<readonly RecordKey[]> {
    return this.#database.reading(async (db) => {
      const ids = await targetIds(db, query.targets)
      return workKeys(db, query, [...ids.values()])
    })
  }

  addLevel(run: RunId, level: number, { tasks, idle }: LevelCut): Promise<void> {
    const number = runNumber(run)
    return this.#database.changing(async (db) => {
      for await (const part of tasks()) {
        const jobs = part.map((task) => ({ id: randomUUID(), data: { run: number, ...task } }))
        const ids = jobs.map(({ id }) => id)
        await db.run(
          'INSERT INTO "$task" (run, job) SELECT $1, job FROM unnest($2::uuid[]) AS job',
          number,
          ids,
        )
        await this.#jobs.add(jobs, db)
      }
      // A process that has lost the run lock must not add a level again. Last, since others write this row as well.
      const ours = await db.run(
        `UPDATE "$run" SET levels = $2 + 1, skipped = skipped + $3 WHERE id = $1 AND levels = $2 AND state = 'running'`,
        number,
        level,
        idle,
      )
      if (ours === 0) throw new TaskLostError()
    })
  }

  async state(run: RunId): Promise<TasksState> {
    const number = runNumber(run)
    await this.#sweep(`task.run = ${number} AND task.worker IS NOT NULL AND ${IS_GONE}`, [], 1)
    const row = await this.#database.get(
      'SELECT count(*) AS open, count(worker) AS held FROM "$task" WHERE run = $1 AND NOT settled',
      number,
    )
    const failed = await this.#database.get(
      'SELECT error, error_type, error_code FROM "$task" WHERE run = $1 AND error IS NOT NULL LIMIT 1',
      number,
    )
    return {
      open: Number(row?.['open']),
      held: Number(row?.['held']),
      error: failed === undefined ? null : storedError(failed),
    }
  }

  async heartbeat(run: RunId, lock: RunLock): Promise<void> {
    const { token, lost } = heldLock(lock)
    if (lost || !(await this.#noteHeartbeat(run, { token, time: 'now()' })))
      throw new TaskLostError('the run lock')
  }

  async handOver(run: RunId, lock: RunLock): Promise<void> {
    await this.#noteHeartbeat(run, { token: heldLock(lock).token, time: `now() - ${LEASE}` })
  }

  /** Returns false when another process has taken the run lock since; that process' heartbeats count. */
  async #noteHeartbeat(run: RunId, { token, time }: { token: number; time: string }): Promise<boolean> {
    const noted = await this.#database.run(
      `UPDATE "$run" SET beat_at = ${time} WHERE id = $1 AND (SELECT run_token FROM "$sheet") = $2`,
      runNumber(run),
      token,
    )
    return noted > 0
  }

  async stop(run: RunId): Promise<void> {
    await this.#database.run('UPDATE "$run" SET stopping = true WHERE id = $1', runNumber(run))
  }

  async continues(run: RunId): Promise<boolean> {
    const row = await this.#database.get(
      `SELECT FROM "$run" WHERE id = $1 AND state = 'running' AND NOT stopping AND cancelled_by IS NULL`,
      runNumber(run),
    )
    return row !== undefined
  }

  async end(run: RunId): Promise<void> {
    const number = runNumber(run)
    for (let more = true; more;) {
      more = await this.#database.changing(async (db) => {
        const rows = await db.all('SELECT job FROM "$task" WHERE run = $1 LIMIT 1000', number)
        const jobs = rows.map(({ job }) => String(job))
        await this.#jobs.remove(jobs, db)
        await db.run('DELETE FROM "$task" WHERE job = ANY($1::uuid[])', jobs)
        return jobs.length > 0
      })
    }
    await this.#database.run('DELETE FROM "$call" WHERE run = $1', number)
    await this.#database.run('DELETE FROM "$streak" WHERE run = $1', number)
  }

  claim(run: RunId, about: { readonly orphaned: boolean }): Promise<boolean> {
    return claimRun(this.#database, run, about)
  }

  leaveWaiting(run: RunId): Promise<void> {
    return leaveWaiting(this.#database, run)
  }

  endWaiting(run: RunId, end: RunEnd): Promise<boolean> {
    return this.#writer.change(async (change) => {
      if (!(await stillWaits(change.db, run))) return false
      await endRun(change, run, end)
      return true
    })
  }

  orphan(about: Parameters<RunTasks['orphan']>[0]): Promise<OrphanedRun | null> {
    return findOrphan(this.#database, about)
  }

  async breakLock({ waits }: OrphanedRun): Promise<void> {
    if (waits && (await hasLiveRun(this.#database))) return
    await breakRunLock(this.#database, LEASE_MS)
  }

  async present(
    worker: string,
    { name, local }: { readonly name: string; readonly local: boolean },
  ): Promise<void> {
    await this.#database.run(
      `INSERT INTO "$worker" (id, name, local, seen_at) VALUES ($1, $2, $3, now())
       ON CONFLICT (id) DO UPDATE SET seen_at = now(), local = excluded.local`,
      worker,
      name,
      local,
    )
  }

  async leave(worker: string): Promise<void> {
    await this.#sweep('task.worker = $1', [worker], 0)
    await this.#database.run(
      `DELETE FROM "$worker" WHERE id = $1 OR seen_at < now() - interval '1 day'`,
      worker,
    )
  }

  async workers(): Promise<number> {
    const sql = `SELECT count(*) AS count FROM "$worker" WHERE NOT local AND seen_at > now() - ${LEASE}`
    return Number((await this.#database.get(sql))?.['count'])
  }

  async take(worker: string, limit: number, held: readonly TakenTask[]): Promise<readonly TakenTask[]> {
    // A cheap check: this runs often, and there is hardly ever a task.
    if ((await this.#database.get('SELECT FROM "$task" WHERE NOT settled LIMIT 1')) === undefined) return []
    // Releases tasks that this process fetched without receiving them, since the connection was lost.
    const known = held.map(({ job }) => job)
    await this.#sweep('task.worker = $1 AND task.job <> ALL($2::uuid[])', [worker, known], 0)
    return this.#database.changing(async (db) => {
      const jobs = await this.#jobs.fetch(limit, db)
      if (jobs.length === 0) return []
      await db.run(
        `UPDATE "$task" AS task SET worker = $1, attempt = taken.attempt
         FROM unnest($2::uuid[], $3::integer[]) AS taken(job, attempt) WHERE task.job = taken.job`,
        worker,
        jobs.map(({ id }) => id),
        jobs.map(({ retryCount }) => retryCount),
      )
      return jobs.map(({ id, data, retryCount }) => {
        const { run, ...rest } = data as TaskData
        return { ...rest, run: String(run), job: id, attempt: retryCount }
      })
    })
  }

  settle(task: TakenTask, error: RunError | null): Promise<void> {
    return this.#database.changing(async (db) => {
      if (!(await this.#jobs.complete(attemptOf(task), db))) return
      await db.run(
        'UPDATE "$task" SET settled = true, worker = NULL, error = $2, error_type = $3, error_code = $4 WHERE job = $1',
        task.job,
        error?.message ?? null,
        error?.type ?? null,
        error?.code ?? null,
      )
    })
  }

  commitCells(task: TakenTask, commit: CellCommit): Promise<readonly CellOutcome[]> {
    return this.#writer.change(async (change) => {
      await this.#fence(change, task)
      await settleCalls(change.db, task, commit.made ?? [])
      // With progress, its losses are not the task's fault.
      await change.db.run('UPDATE "$task" SET lost = 0 WHERE job = $1 AND lost > 0', task.job)
      return commitCells(change, commit, addTaskGain)
    })
  }

  noteCalls(task: TakenTask, progress: CellCommit['progress']): Promise<void> {
    return this.#writer.change(async (change) => {
      await this.#fence(change, task)
      await addTaskGain(change, task.run, { materialized: 0, failures: [], overwritten: 0, progress })
    })
  }

  noteStreaks(run: RunId, notes: readonly StreakNote[]): Promise<ReadonlyMap<string, number>> {
    return addToStreaks(this.#database, run, notes)
  }

  async settledCells(
    task: TakenTask,
    items: readonly WorkItem[],
  ): Promise<ReadonlyMap<RecordKey, ReadonlySet<string>>> {
    const targets = [...new Set(items.flatMap(({ cells }) => cells.map(({ target }) => target)))]
    const rows = await this.#database.all(
      `SELECT cell.record, target.field FROM "$cell" AS cell JOIN "$target" AS target ON target.id = cell.target
       JOIN "$provenance" AS entry ON entry.seq = cell.mark
       WHERE entry.run = $1 AND cell.record = ANY($2::bigint[]) AND target.field = ANY($4::text[])
       UNION ALL
       SELECT wanted.key, failed.field FROM unnest($2::bigint[], $3::text[]) AS wanted(key, id)
       JOIN "$run_failure" AS failure ON failure.run = $1 AND failure.record_id = wanted.id
       CROSS JOIN unnest(string_to_array(failure.field, ',')) AS failed(field)
       WHERE failed.field = ANY($4::text[])`,
      runNumber(task.run),
      items.map(({ key }) => key),
      items.map(({ id }) => id),
      targets,
    )
    const settled = new Map<RecordKey, Set<string>>()
    for (const { record, field } of rows) {
      const key = Number(record)
      settled.set(key, (settled.get(key) ?? new Set()).add(String(field)))
    }
    return settled
  }

  claimCalls(task: TakenTask, calls: readonly CallToClaim[]): Promise<ReadonlyMap<string, CallClaim>> {
    const hashes = calls.map(({ hash }) => hash)
    if (!task.bounded) return claimCalls(this.#database, task, hashes)
    return this.#database.changing(async (db) => {
      const bounds = await RunBounds.lock(db, task)
      const claims = await claimCalls(db, task, hashes)
      const refused = calls.filter(({ hash, price }) => claims.get(hash) === 'mine' && !bounds.begin(price))
      const released = refused.map(({ hash }) => hash)
      await releaseCalls(db, task, released)
      // Calls under way may cost less than is reserved for them, which leaves money for others.
      const mayWait = refused.some(({ price }) => bounds.isPossible(price)) && (await hasOpenCalls(db, task))
      for (const { hash, price } of refused) {
        claims.set(hash, mayWait && bounds.isPossible(price) ? 'other' : 'none-left')
      }
      await bounds.save()
      return claims
    })
  }

  async releaseCalls(task: TakenTask, calls: readonly CallToClaim[], wasSent: boolean): Promise<void> {
    await this.#database.changing(async (db) => {
      const bounds = task.bounded && !wasSent ? await RunBounds.lock(db, task) : null
      const hashes = calls.map(({ hash }) => hash)
      const released = await releaseCalls(db, task, hashes)
      if (bounds === null) return
      for (const { hash, price } of calls) if (released.has(hash)) bounds.giveBack(price)
      await bounds.save()
    })
  }

  async settleCall(task: TakenTask, { hash, price }: CallToClaim, cost: number): Promise<void> {
    if (!task.bounded) return
    await this.#database.changing(async (db) => {
      const bounds = await RunBounds.lock(db, task)
      if (!(await isClaimedBy(db, task, hash))) return
      bounds.settle(price, cost)
      await bounds.save()
    })
  }

  close(): Promise<void> {
    return this.#jobs.close()
  }

  /** Throws where a task has been given to another; otherwise holds it until the change is committed. */
  async #fence({ db }: ChangeSet, task: TakenTask): Promise<void> {
    if (!(await this.#jobs.hold([attemptOf(task)], db))) throw new TaskLostError()
  }

  /** Releases tasks whose workers have stopped; `lost` is added to the count of losses without notice. */
  async #sweep(which: string, params: readonly (string | readonly string[])[], lost: 0 | 1): Promise<void> {
    const found = `FROM "$task" AS task WHERE NOT task.settled AND ${which}`
    // There is hardly ever one.
    if ((await this.#database.get(`SELECT ${found} LIMIT 1`, ...params)) === undefined) return
    await this.#database.changing(async (db) => {
      const held = await db.all(`SELECT task.job, task.attempt ${found}`, ...params)
      const jobs = held.map(({ job }) => String(job))
      const attempts = held.map(({ attempt }) => Number(attempt))
      // The job is locked first, as everywhere, to avoid deadlocks.
      await this.#jobs.giveBack(
        jobs.map((id, index) => ({ id, retryCount: attempts[index] ?? 0 })),
        db,
      )
      const given = await db.all(
        `UPDATE "$task" AS task SET worker = NULL, lost = lost + ${lost}
         FROM unnest($1::uuid[], $2::integer[]) AS held(job, attempt)
         WHERE task.job = held.job AND task.attempt = held.attempt AND task.worker IS NOT NULL AND NOT task.settled
         RETURNING task.job, task.lost, task.run`,
        jobs,
        attempts,
      )
      if (lost === 1) await countLostCalls(db, given)
      await this.#giveUp(
        db,
        given.filter((row) => Number(row['lost']) >= LOST_LIMIT).map((row) => String(row['job'])),
      )
    })
  }

  async #giveUp(db: Connection, jobs: readonly string[]): Promise<void> {
    if (jobs.length === 0) return
    const error = `${LOST_LIMIT} workers one after the other were gone while they computed the same records; see their logs`
    await this.#jobs.remove(jobs, db)
    await db.run(
      `UPDATE "$task" SET settled = true, error = $2, error_type = 'OperationError', error_code = 'run_interrupted' WHERE job = ANY($1::uuid[])`,
      jobs,
      error,
    )
  }
}

function attemptOf({ job, attempt }: TakenTask): { id: string; retryCount: number } {
  return { id: job, retryCount: attempt }
}

function heldLock(lock: RunLock): HeldRunLock {
  if (!(lock instanceof HeldRunLock)) throw new Error('the run lock of another store')
  return lock
}

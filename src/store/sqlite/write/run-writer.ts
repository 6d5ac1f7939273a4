import type { SQLInputValue } from 'node:sqlite'
import type { CellCommit } from '../../cell-work.ts'
import type { RevertResult } from '../../sheet-store.ts'
import type { FailedCell, NewRun, RunEnd, RunId } from '../../stored-run.ts'
import { failureRows } from '../../rows/run-failures.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import { later, runNumber, WAIT_GRACE_MS, type RunGain, type StoredRequest } from '../../rows/stored-rows.ts'

/** Failures that go into the table with one statement. */
const FAILURES_AT_ONCE = 100

/** A run, and what is to be noted of it. */
export interface RunNote<T> {
  readonly id: RunId
  readonly note: T
}

/** What a run turns out to be about, as it goes to the writing thread. */
export interface RunBeginText {
  /** Cells, and those of them that have a value written by hand. */
  readonly total: number
  readonly manual: number
  /** JSON texts of pieces of `absent` of {@link RunBegin}: text crosses several times as fast as many small objects. */
  readonly absent: readonly string[]
}

/** Writes down that a run begins, and answers with its id; ids are given out in order and never twice. */
export function startRun(change: ChangeSet, run: NewRun): RunId {
  const { kind, reverts, actor, targets, recordIds, force, only, limit, maxCalls, maxCost } = run
  const { overwriteManual, reuseResponses, keepFresh, stopAfterFailures } = run
  const row = change.db.get('UPDATE "$sheet" SET last_run = last_run + 1 RETURNING last_run')
  const id = Number(row?.['last_run'])
  const recordCount = recordIds?.length ?? null
  const request: StoredRequest = {
    targets,
    recordCount,
    force,
    overwriteManual,
    only,
    limit,
    maxCalls,
    maxCost,
    reuseResponses,
    keepFresh,
    stopAfterFailures,
  }
  change.db.run(
    `INSERT INTO "$run" (id, kind, reverts, state, actor, request, record_ids, started_at, waits_until, active_at)
     VALUES (?1, ?2, ?3, 'running', ?4, ?5, ?6, ?7, ?8, ?7)`,
    id,
    kind,
    reverts === null ? null : runNumber(reverts),
    actor,
    JSON.stringify(request),
    recordIds === null ? null : JSON.stringify(recordIds),
    change.at,
    later(change.now, run.silentMs),
  )
  return String(id)
}

/** Notes that a run still waits for the run lock, and for how long it may be silent from now on. */
export function keepWaiting(change: ChangeSet, { id, note: silentMs }: RunNote<number>): null {
  change.db.run(
    'UPDATE "$run" SET waits_until = ? WHERE id = ? AND waits_until IS NOT NULL',
    later(change.now, silentMs),
    runNumber(id),
  )
  return null
}

/** Notes that a run has the run lock. It runs, even if it had been given up for having waited too long. */
export function runLocked(change: ChangeSet, { id, note }: RunNote<RunBeginText>): null {
  const absent = note.absent.flatMap((text) => JSON.parse(text) as FailedCell[])
  const set =
    "state = 'running', ended_at = NULL, waits_until = NULL, active_at = ?, total = ?, failed = ?, manual_left = ?"
  updateRun(change, id, { set, values: [change.at, note.total, absent.length, note.manual] })
  addFailures(change, id, absent)
  return null
}

/** Notes how far a run is that has nothing to store yet. */
export function noteCalls(change: ChangeSet, { id, note }: RunNote<CellCommit['progress']>): null {
  runGained(change, id, { materialized: 0, failures: [], overwritten: 0, progress: note })
  return null
}

/** Adds what a commit stored to the counts of its run. */
export function runGained(change: ChangeSet, id: RunId, gain: RunGain): void {
  const { materialized, failures, overwritten, progress } = gain
  const { skipped, left, calls, totalCost, unpricedCalls } = progress
  updateRun(change, id, {
    set: `materialized = materialized + ?, failed = failed + ?, skipped = ?, left_cells = ?, calls = ?, total_cost = ?,
      unpriced_calls = ?, active_at = ?, manual_left = manual_left - ?, manual_overwritten = manual_overwritten + ?`,
    values: [
      materialized,
      failures.length,
      skipped,
      left,
      calls,
      totalCost,
      unpricedCalls,
      change.at,
      overwritten,
      overwritten,
    ],
  })
  addFailures(change, id, failures)
}

/** Adds what a piece of a revert came to to the counts of its run. */
export function runReverted(change: ChangeSet, id: RunId, { reverted, conflicts }: RevertResult): void {
  updateRun(change, id, {
    set: 'materialized = materialized + ?, skipped = skipped + ?, active_at = ?',
    values: [reverted, conflicts.length, change.at],
  })
}

/** Notes how a run ended, with its last counts. */
export function endRun(change: ChangeSet, { id, note }: RunNote<RunEnd>): null {
  const { state, error, cancelledBy, progress } = note
  const { total, materialized, skipped, left, failed, calls, totalCost, unpricedCalls } = progress
  updateRun(change, id, {
    set: `state = ?, cancelled_by = ?,
      error = ?, error_type = ?, ended_at = ?, active_at = ?, total = ?, materialized = ?, skipped = ?, failed = ?, left_cells = ?,
      calls = ?, total_cost = ?, unpriced_calls = ?`,
    values: [
      state,
      cancelledBy,
      error?.message ?? null,
      error?.type ?? null,
      change.at,
      change.at,
      total,
      materialized,
      skipped,
      failed,
      left,
      calls,
      totalCost,
      unpricedCalls,
    ],
  })
  return null
}

/** Notes who wants a run to end. Whoever came first is remembered; a run that has ended cannot be stopped any more. */
export function requestCancel(change: ChangeSet, { id, note: actor }: RunNote<string>): null {
  change.db.run(
    `UPDATE "$run" SET cancelled_by = ? WHERE id = ? AND state = 'running' AND cancelled_by IS NULL`,
    actor,
    runNumber(id),
  )
  return null
}

/** Marks as interrupted what claims to run and cannot; see {@link SheetStore.interruptRuns}. */
export function interruptRuns(change: ChangeSet, except: RunId | null): null {
  change.db.run(
    `UPDATE "$run" SET state = 'interrupted', ended_at = active_at
     WHERE state = 'running' AND id IS NOT ? AND (waits_until IS NULL OR waits_until < ?)`,
    except === null ? null : runNumber(except),
    later(change.now, -WAIT_GRACE_MS),
  )
  return null
}

/** Throws an Error when there is no such run, which only a mistake of the program can bring about. */
function updateRun(
  change: ChangeSet,
  id: RunId,
  { set, values }: { set: string; values: readonly SQLInputValue[] },
): void {
  const updated = change.db.run(`UPDATE "$run" SET ${set} WHERE id = ?`, ...values, runNumber(id))
  if (updated === 0) throw new Error(`no run ${id}`)
}

function addFailures(change: ChangeSet, id: RunId, failures: readonly FailedCell[]): void {
  if (failures.length === 0) return
  const run = runNumber(id)
  const last = change.db.get('SELECT max(number) AS number FROM "$run_failure" WHERE run = ?', run)
  const { rows, bodies } = failureRows(failures, Number(last?.['number'] ?? 0))
  for (const { hash, body } of bodies) {
    change.db.run('INSERT OR IGNORE INTO "$run_body" (run, hash, body) VALUES (?, ?, ?)', run, hash, body)
  }
  for (let start = 0; start < rows.length; start += FAILURES_AT_ONCE) {
    const some = rows.slice(start, start + FAILURES_AT_ONCE)
    change.db.run(
      `INSERT INTO "$run_failure" (run, number, record_id, field, error, error_type, body, at)
       VALUES ${some.map(() => '(?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
      ...some.flatMap(({ number, recordId, fields, error, errorType, body }) => [
        run,
        number,
        recordId,
        fields,
        error,
        errorType,
        body,
        change.at,
      ]),
    )
  }
}

import type { CellCommit } from '../../cell-work.ts'
import type { RevertResult } from '../../sheet-store.ts'
import type { FailedCell, NewRun, RunBegin, RunEnd, RunId } from '../../stored-run.ts'
import { failureRows } from '../../rows/run-failures.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import type { SqlInput } from '../database/connection.ts'
import { runNumber, type RunGain, type StoredRequest } from '../../rows/stored-rows.ts'
import { timeText } from '../database/database-clock.ts'
import { IS_LOST } from './waiting-runs.ts'

/** Writes down that a run begins, and answers with its id; ids are given out in order and never twice. */
export async function startRun(change: ChangeSet, run: NewRun): Promise<RunId> {
  const { kind, reverts, actor, targets, recordIds, force, only, limit, maxCalls, maxCost } = run
  const { overwriteManual, reuseResponses, keepFresh, stopAfterFailures } = run
  const row = await change.db.get('UPDATE "$sheet" SET last_run = last_run + 1 RETURNING last_run')
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
  await change.db.run(
    `INSERT INTO "$run" (id, kind, reverts, state, actor, request, record_ids, started_at, waits_until, active_at)
     VALUES ($1, $2, $3, 'running', $4, $5, $6, $7, ${timeText('+ make_interval(secs => $8)')}, $7)`,
    id,
    kind,
    reverts === null ? null : runNumber(reverts),
    actor,
    JSON.stringify(request),
    recordIds === null ? null : JSON.stringify(recordIds),
    change.at,
    run.silentMs / 1000,
  )
  return String(id)
}

/** Notes that a run has the run lock. It runs, even if it had been given up for having waited too long. */
export async function runLocked(change: ChangeSet, id: RunId, begin: RunBegin): Promise<void> {
  const { total, absent, manual } = begin
  const set = `state = 'running', ended_at = NULL, waits_until = NULL, active_at = $2, total = $3, failed = $4,
    manual_left = $5`
  await updateRun(change, id, { set, values: [change.at, total, absent.length, manual] })
  await addFailures(change, id, absent)
}

/** Notes how far a run is that has nothing to store yet. */
export function noteCalls(change: ChangeSet, id: RunId, progress: CellCommit['progress']): Promise<void> {
  return runGained(change, id, { materialized: 0, failures: [], overwritten: 0, progress })
}

const MANUAL_GAINED = 'manual_left = manual_left - $10, manual_overwritten = manual_overwritten + $10'

/** Adds what a commit stored to the counts of its run. */
export async function runGained(change: ChangeSet, id: RunId, gain: RunGain): Promise<void> {
  const { materialized, failures, overwritten, progress } = gain
  const { skipped, left, calls, totalCost, unpricedCalls } = progress
  await updateRun(change, id, {
    set: `materialized = materialized + $2, failed = failed + $3, skipped = $4, left_cells = $5, calls = $6, total_cost = $7,
      unpriced_calls = $8, active_at = $9, ${MANUAL_GAINED}`,
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
    ],
  })
  await addFailures(change, id, failures)
}

/** The same for a task, whose progress is by how much it has grown. */
export async function runGrew(change: ChangeSet, id: RunId, gain: RunGain): Promise<void> {
  const { materialized, failures, overwritten, progress } = gain
  const { skipped, left, calls, totalCost, unpricedCalls } = progress
  await updateRun(change, id, {
    set: `materialized = materialized + $2, failed = failed + $3, skipped = skipped + $4, left_cells = left_cells + $5,
      calls = calls + $6, total_cost = round((total_cost + $7)::numeric, 9), unpriced_calls = unpriced_calls + $8,
      active_at = $9, ${MANUAL_GAINED}`,
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
    ],
  })
  await addFailures(change, id, failures)
}

/** Adds what a piece of a revert came to to the counts of its run. */
export function runReverted(
  change: ChangeSet,
  id: RunId,
  { reverted, conflicts }: RevertResult,
): Promise<void> {
  return updateRun(change, id, {
    set: 'materialized = materialized + $2, skipped = skipped + $3, active_at = $4',
    values: [reverted, conflicts.length, change.at],
  })
}

/** Notes how a run ended, with its last counts. */
export function endRun(change: ChangeSet, id: RunId, end: RunEnd): Promise<void> {
  const { state, error, cancelledBy, progress } = end
  const { total, materialized, skipped, left, failed, calls, totalCost, unpricedCalls } = progress
  return updateRun(change, id, {
    set: `state = $2, cancelled_by = $3, error = $4, error_type = $5, ended_at = $6, active_at = $6,
      total = $7, materialized = $8, skipped = $9, failed = $10, left_cells = $11, calls = $12, total_cost = $13,
      unpriced_calls = $14`,
    values: [
      state,
      cancelledBy,
      error?.message ?? null,
      error?.type ?? null,
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
}

/** Notes who wants a run to end. Whoever came first is remembered; a run that has ended cannot be stopped any more. */
export async function requestCancel(change: ChangeSet, id: RunId, actor: string): Promise<void> {
  await change.db.run(
    `UPDATE "$run" SET cancelled_by = $1 WHERE id = $2 AND state = 'running' AND cancelled_by IS NULL`,
    actor,
    runNumber(id),
  )
}

/** Marks as interrupted what claims to run and cannot; see {@link SheetStore.interruptRuns}. */
export async function interruptRuns(change: ChangeSet, except: RunId | null): Promise<void> {
  await change.db.run(
    `UPDATE "$run" AS run SET state = 'interrupted', ended_at = active_at
     WHERE ${IS_LOST} AND id IS DISTINCT FROM $1::bigint`,
    except === null ? null : runNumber(except),
  )
}

/** `$1` is the run. Throws an Error when there is no such run, which only a mistake of the program can bring about. */
async function updateRun(
  change: ChangeSet,
  id: RunId,
  { set, values }: { set: string; values: readonly SqlInput[] },
): Promise<void> {
  const updated = await change.db.run(`UPDATE "$run" SET ${set} WHERE id = $1`, runNumber(id), ...values)
  if (updated === 0) throw new Error(`no run ${id}`)
}

async function addFailures(change: ChangeSet, id: RunId, failures: readonly FailedCell[]): Promise<void> {
  if (failures.length === 0) return
  const run = runNumber(id)
  // Numbered from 1: those that are there already are added to in the statement.
  const { rows, bodies } = failureRows(failures, 0)
  if (bodies.length > 0) {
    await change.db.run(
      `INSERT INTO "$run_body" (run, hash, body) SELECT $1, decode(hash, 'hex'), body FROM unnest($2::text[], $3::text[]) AS new(hash, body)
       ON CONFLICT DO NOTHING`,
      run,
      bodies.map(({ hash }) => hexOf(hash)),
      bodies.map(({ body }) => body),
    )
  }
  await change.db.run(
    `INSERT INTO "$run_failure" (run, number, record_id, field, error, error_type, body, at)
     SELECT $1, place + (SELECT coalesce(max(number), 0) FROM "$run_failure" WHERE run = $1),
            record_id, field, error, error_type, decode(body, 'hex'), $2
     FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
       AS new(place, record_id, field, error, error_type, body)`,
    run,
    change.at,
    rows.map(({ number }) => number),
    rows.map(({ recordId }) => recordId),
    rows.map(({ fields }) => fields),
    rows.map(({ error }) => error),
    rows.map(({ errorType }) => errorType),
    rows.map(({ body }) => (body === null ? null : hexOf(body))),
  )
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

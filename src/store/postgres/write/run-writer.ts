import type { CellCommit } from '../../cell-work.ts'
import type { FailedCell, NewRun, RunBegin, RunEnd, RunId } from '../../stored-run.ts'
import { failureRows } from '../../rows/run-failures.ts'
import {
  requestText,
  runBegun,
  runEnded,
  runGained,
  runGrew,
  updateRun,
  type RunGain,
  type RunUpdate,
} from '../../rows/run-updates.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import { runNumber } from '../../rows/stored-rows.ts'
import { timeText } from '../database/database-clock.ts'
import { IS_LOST } from './waiting-runs.ts'

/** Stores a new run, and returns its id; ids ascend and are never reused. */
export async function startRun(change: ChangeSet, run: NewRun): Promise<RunId> {
  const { kind, reverts, actor, recordIds } = run
  const row = await change.db.get('UPDATE "$sheet" SET last_run = last_run + 1 RETURNING last_run')
  const id = Number(row?.['last_run'])
  await change.db.run(
    `INSERT INTO "$run" (id, kind, reverts, state, actor, request, record_ids, started_at, waits_until, active_at)
     VALUES ($1, $2, $3, 'running', $4, $5, $6, $7, ${timeText('+ make_interval(secs => $8)')}, $7)`,
    id,
    kind,
    reverts === null ? null : runNumber(reverts),
    actor,
    requestText(run),
    recordIds === null ? null : JSON.stringify(recordIds),
    change.at,
    run.silentMs / 1000,
  )
  return String(id)
}

/** Stores that a run has the run lock. */
export async function beginRun(change: ChangeSet, id: RunId, begin: RunBegin): Promise<void> {
  await update(change, id, runBegun(begin, change.at))
  await addFailures(change, id, begin.absent)
}

/** Stores the progress of a run that has no results to store yet. */
export function noteCalls(change: ChangeSet, id: RunId, progress: CellCommit['progress']): Promise<void> {
  return addGain(change, id, { materialized: 0, failures: [], overwritten: 0, progress })
}

/** Adds a commit to the counts of its run. */
export async function addGain(change: ChangeSet, id: RunId, gain: RunGain): Promise<void> {
  await update(change, id, runGained(gain, change.at))
  await addFailures(change, id, gain.failures)
}

/** Adds a commit of a task to the counts of its run. */
export async function addTaskGain(change: ChangeSet, id: RunId, gain: RunGain): Promise<void> {
  await update(change, id, runGrew(gain, change.at))
  await addFailures(change, id, gain.failures)
}

/** Stores the end of a run, with its last counts. */
export function endRun(change: ChangeSet, id: RunId, end: RunEnd): Promise<void> {
  return update(change, id, runEnded(end, change.at))
}

/** Marks runs as interrupted that are stored as running and cannot be; see {@link SheetStore.interruptRuns}. */
export async function interruptRuns(change: ChangeSet, except: RunId | null): Promise<void> {
  await change.db.run(
    `UPDATE "$run" AS run SET state = 'interrupted', ended_at = active_at
     WHERE ${IS_LOST} AND id IS DISTINCT FROM $1::bigint`,
    except === null ? null : runNumber(except),
  )
}

/** Throws an Error when there is no such run, which is a bug. */
async function update({ db }: ChangeSet, id: RunId, changed: RunUpdate): Promise<void> {
  if ((await db.change(updateRun(id, changed, plus))) === 0) throw new Error(`no run ${id}`)
}

/** Returns SQL that adds to a column. Costs of tasks are rounded as in a single process. */
function plus(column: string, parameter: string): string {
  return column === 'total_cost'
    ? `round((total_cost + ${parameter})::numeric, 9)`
    : `${column} + ${parameter}`
}

async function addFailures(change: ChangeSet, id: RunId, failures: readonly FailedCell[]): Promise<void> {
  if (failures.length === 0) return
  const run = runNumber(id)
  // Numbered from 1; the statement adds the number of the existing ones.
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
    `INSERT INTO "$run_failure" (run, number, record_id, field, error, detail, error_type, reason, body, alike, at)
     SELECT $1, place + (SELECT coalesce(max(number), 0) FROM "$run_failure" WHERE run = $1),
            record_id, field, error, detail, error_type, reason, decode(body, 'hex'), alike, $2
     FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::bigint[])
       AS new(place, record_id, field, error, detail, error_type, reason, body, alike)`,
    run,
    change.at,
    rows.map(({ number }) => number),
    rows.map(({ recordId }) => recordId),
    rows.map(({ fields }) => fields),
    rows.map(({ error }) => error),
    rows.map(({ detail }) => detail ?? null),
    rows.map(({ errorType }) => errorType),
    rows.map(({ reason }) => reason),
    rows.map(({ body }) => (body === null ? null : hexOf(body))),
    rows.map(({ alike }) => alike),
  )
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

import { manualCells, sumOf } from '../../../derivation/plan/manual-cells.ts'
import { Planner } from '../../../derivation/plan/planner.ts'
import { runScope } from '../../../derivation/plan/run-scope.ts'
import { LocalTasks } from '../../../derivation/run/local-tasks.ts'
import { runLevels } from '../../../derivation/run/run-levels.ts'
import { withRestSkipped } from '../../../derivation/run/tally.ts'
import { RunStoppedError } from '../../../errors/service-error.ts'
import { TaskLostError } from '../../../store/run-tasks.ts'
import type { SheetStore } from '../../../store/sheet-store.ts'
import type { ActiveRun } from '../../active-run.ts'
import { prepareCalls } from '../../calls/prepare-calls.ts'
import { resolveSelection } from '../selection/run-selection.ts'
import { isStoreUnavailable } from '../tasks/task-runner.ts'
import type { LockedRun } from './accepted-run.ts'
import { endRun } from './end-run.ts'
import { releasedByShutdown, RunReleasedError } from './run-released-error.ts'
import { SharedTasks } from './shared-tasks.ts'

/** The interval, in milliseconds, at which the calls of a run without results are stored. */
const NOTE_MS = 250

/**
 * Computes the cells of a run and stores that it finished. Divides each level into tasks and waits until they are settled: where processes
 * share runs, all of them compute the tasks, and a run that another process has begun is resumed; elsewhere this process computes them
 * alone. Keeps `active` up to date. Throws the error that broke the run, the signal's reason, and RunReleasedError when another process
 * continues the run.
 */
export async function coordinateRun(run: LockedRun): Promise<void> {
  const { store, active } = run
  const shared = store.tasks === undefined ? null : new SharedTasks(run, store.tasks)
  try {
    // At once, so that no other process takes over an orphaned run as well.
    await shared?.heartbeat()
    await compute(run, shared)
    await shared?.end()
    skipRest(active)
    await endRun(run)
  } catch (error) {
    if (shared !== null) {
      await releaseIfContinued(run, shared, error)
      await shared.stop().catch((fault: unknown) => {
        // Without its last counts the run would end with fewer calls than it has made.
        if (isStoreUnavailable(fault)) throw new RunReleasedError((fault as Error).message)
      })
    }
    if (error instanceof RunStoppedError) skipRest(active)
    throw error
  } finally {
    await shared?.close()
  }
}

async function compute(
  { sheet, store, active, order }: LockedRun,
  shared: SharedTasks | null,
): Promise<void> {
  const { id, signal, feed } = active
  const { plan, absent } = await resolveSelection(sheet, order, signal)
  const { total } = await store.status()
  const begun = (await shared?.place()) ?? null
  if (shared !== null && begun !== null) {
    const { lastKey, lastSeq, levels } = begun
    const records = begun.records ?? plan.records
    const scope = { total: records?.length ?? total, records, lastKey, lastSeq }
    await runLevels(new Planner(plan, scope), shared, levels)
    return
  }
  // Workers make the calls, where there are any, and have what these need.
  if (shared === null || !(await shared.hasWorkers())) await prepareCalls(plan)
  const manual = sumOf(await manualCells(plan))
  await store.runLocked(id, {
    manual,
    total: (plan.records?.length ?? total) * plan.targets.size + absent.length,
    absent,
  })
  const scope = await runScope(plan)
  const planner = new Planner(plan, scope)
  if (shared !== null) {
    const { lastKey, lastSeq, records } = scope
    await shared.begin({ lastKey, lastSeq, records: order.limit === null ? null : records })
    await runLevels(planner, shared)
    return
  }
  const request = { ...plan, id, actor: order.actor, observer: feed }
  const local = new LocalTasks(request, scope, { manual, absent: absent.length })
  const noting = noteCalls(store, active)
  await runLevels(planner, local).finally(() => {
    clearInterval(noting)
    local.close()
  })
}

/** Stores the counts of calls that have no results yet, several times a second. */
function noteCalls(store: SheetStore, { id, feed }: ActiveRun): NodeJS.Timeout {
  let noted = 0
  return setInterval(() => {
    const { calls, totalCost, unpricedCalls, skipped, left } = feed.progress
    if (calls === noted) return
    noted = calls
    // While the store cannot be written, a later attempt stores them.
    void store.noteCalls(id, { calls, totalCost, unpricedCalls, skipped, left }).catch(() => undefined)
  }, NOTE_MS)
}

/** Counts cells that were neither computed nor failed as skipped. */
function skipRest({ feed }: ActiveRun): void {
  feed.onProgress(withRestSkipped(feed.progress))
}

/** Releases a run that another process continues, and throws RunReleasedError. Returns when the error ends the run. */
async function releaseIfContinued(
  { sheet, active, wasOrphaned = false }: LockedRun,
  shared: SharedTasks,
  error: unknown,
): Promise<void> {
  const stops = sheet.stopping.aborted && error === sheet.stopping.reason
  if (stops && (sheet.handOverRuns || wasOrphaned)) {
    await shared.handOver()
    throw releasedByShutdown(active.id)
  }
  if (error instanceof TaskLostError) {
    await shared.handOver()
    throw new RunReleasedError(error.message)
  }
  if (isStoreUnavailable(error)) throw new RunReleasedError((error as Error).message)
}

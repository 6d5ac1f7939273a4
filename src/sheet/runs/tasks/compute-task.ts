import type { Derivation } from '../../../derivation/definition/derivation-kind.ts'
import type { RunRequest } from '../../../derivation/run-request.ts'
import { Computation } from '../../../derivation/run/computation.ts'
import { Tally } from '../../../derivation/run/tally.ts'
import type { RunTasks, TakenTask } from '../../../store/run-tasks.ts'
import { NO_PROGRESS } from '../../active-run.ts'
import { failureStreakOf } from './failure-streaks.ts'
import { overwritableTargets } from '../selection/overwritable-targets.ts'
import { prepareCalls } from '../../calls/prepare-calls.ts'
import { selectTargets } from '../../select-targets.ts'
import { RunFeed } from '../../run-feed.ts'
import type { Sheet } from '../../sheet.ts'
import { TaskCalls } from './task-calls.ts'
import { TaskStore } from './task-store.ts'

/** The run has the bounds, and the coordinator has counted them and the records that they leave. */
const UNBOUNDED = { limit: null, maxCalls: null, maxCost: null } as const

/**
 * Computes a task and stores each result. Resolves when all is stored and published. Does nothing when the run has
 * ended or the derivation has changed: then its cells stay as they are. Rejects with the signal's reason, with an error
 * that breaks the run, and with {@link TaskLostError}.
 */
export async function computeTask(
  sheet: Sheet,
  tasks: RunTasks,
  task: TakenTask,
  signal: AbortSignal,
): Promise<void> {
  const { contract, store, derivations } = await sheet.deriving()
  const run = await store.run(task.run)
  const all = derivations.levels.flat()
  const derivation = all.find(({ file }) => file === task.derivation)
  if (run === null || derivation?.sha256 !== task.sha256 || !(await tasks.continues(task.run))) return
  const targets = selectTargets(derivations, run.targets)
  const streak = failureStreakOf(sheet, run)
  const taskStore = new TaskStore({ store, tasks, task, streak })
  const feed = new RunFeed(task.run, NO_PROGRESS, store.frames, false)
  const earlier = upstreamOf(derivation, all)
  const request: RunRequest = {
    contract,
    levels: [earlier, [derivation]],
    targets,
    overwritable: overwritableTargets(contract, { ...run, targets }),
    records: task.records,
    force: run.force,
    only: run.only,
    ...UNBOUNDED,
    reuseResponses: run.reuseResponses,
    stopAfterFailures: run.stopAfterFailures,
    policies: sheet.policies(),
    limiter: sheet.limiter,
    now: await sheet.now(),
    store: taskStore,
    signal,
    id: task.run,
    actor: run.actor,
    observer: {
      onBegun: (cells, stored) => feed.onBegun(cells, stored),
      onCells: (cells) => feed.onCells(cells),
      onProgress: (progress) => taskStore.onProgress(progress),
    },
    calls: new TaskCalls(tasks, task),
    settled: task.attempt === 0 ? undefined : (items) => tasks.settledCells(task, items),
  }
  const { records, lastKey, lastSeq } = task
  const scope = { total: records?.length ?? 0, records, lastKey, lastSeq }
  const tally = new Tally({ total: Number.MAX_SAFE_INTEGER, manual: 0, failed: 0 }, request.observer)
  const computation = new Computation(request, scope, { tally, streak })
  try {
    await prepareCalls({ ...request, levels: [[derivation]] })
    await computation.readFailed(earlier)
    await computation.compute(derivation)
  } finally {
    computation.close()
    taskStore.stop()
    // Counts aborted calls too; after the task is lost, nothing is stored.
    await taskStore.note().catch(() => undefined)
    feed.close()
  }
  // Watchers receive its cells before the run can end.
  await store.frames?.settled()
}

/** Returns the derivations that one depends on, in their order. */
function upstreamOf(derivation: Derivation, all: readonly Derivation[]): readonly Derivation[] {
  const wanted = new Set(derivation.inputs)
  const found = all.toReversed().filter(({ targets, inputs }) => {
    const isUpstream = targets.some((target) => wanted.has(target))
    if (isUpstream) for (const input of inputs) wanted.add(input)
    return isUpstream
  })
  return found.toReversed()
}

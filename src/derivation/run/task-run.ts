import { Budget } from '../plan/budget.ts'
import { CommitQueue } from './commit-queue.ts'
import { DerivationRun } from './derivation-run.ts'
import { Planner } from '../plan/planner.ts'
import type { RunRequest, TaskRequest } from '../run-request.ts'
import { ReusedResponses } from './reused-responses.ts'
import { Tally } from './tally.ts'
import { UnusableCells } from './unusable-cells.ts'

/** Whoever cut the run has the bounds, and the records that they leave. */
const WHOLE = { limit: null, maxCalls: null, maxCost: null, manual: 0 } as const

/**
 * Computes a piece of a run, as {@link runDerivations} would. Settles only when nothing is under way any more and all that was
 * answered is stored; rejects with the signal's reason when it is aborted, and with what breaks it.
 */
export async function runTask(task: TaskRequest): Promise<void> {
  const { derivation, before, records, lastKey, lastSeq, store, signal, calls, settled } = task
  const breaking = new AbortController()
  const request: RunRequest = { ...task, ...WHOLE, levels: [before, [derivation]] }
  const scope = { total: records?.length ?? 0, records, lastKey, lastSeq }
  const planner = new Planner(request, scope, breaking.signal)
  const tally = new Tally({ total: Number.MAX_SAFE_INTEGER, manual: 0 }, request.observer)
  const commits = new CommitQueue({ store, run: request.id, actor: request.actor, tally })
  let fault: { readonly error: unknown } | null = null
  const onFault = (error: unknown): void => {
    fault ??= { error: signal.aborted ? signal.reason : error }
    breaking.abort(error)
  }
  const stop = (): void => breaking.abort(signal.reason)
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  try {
    const unusable = await failedInputs(planner, task)
    const parts = {
      planner,
      budget: new Budget(WHOLE),
      tally,
      commits,
      unusable,
      calls,
      reuse: request.reuseResponses ? new ReusedResponses(store.responses) : undefined,
      settled,
      streak: task.streak,
      signal: breaking.signal,
      onFault,
    }
    await new DerivationRun(derivation, parts).run()
  } finally {
    signal.removeEventListener('abort', stop)
    tally.report()
  }
  if (fault !== null) throw (fault as { readonly error: unknown }).error
  signal.throwIfAborted()
  if (task.streak.stopped !== null) throw task.streak.stopped
}

/** Of what the run has computed before, the cells that it could not bring up to date, and what is computed from them (D27). */
async function failedInputs(planner: Planner, { derivation, before }: TaskRequest): Promise<UnusableCells> {
  const unusable = new UnusableCells([derivation, ...before].flatMap(({ inputs }) => inputs))
  for (const earlier of before) {
    if (planner.targets(earlier).length === 0) continue
    for await (const items of planner.work(earlier, { ready: false })) {
      for (const item of items) {
        const isLeft = earlier.inputs.some((input) => unusable.has(input, item.key))
        for (const { target, state } of planner.cells(item)) {
          // One that was to be overwritten and still is as it was could not be computed either.
          if (isLeft || state === 'failed' || state === 'overridden') unusable.add(target, item.key)
        }
      }
    }
  }
  return unusable
}

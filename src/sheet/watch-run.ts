import type { SizeOf, Subscription } from '../events/event-bus.ts'
import type { RunId } from '../store/stored-run.ts'
import { followRun } from './follow-run.ts'
import { getRun } from './read-runs.ts'
import { progressOf, subscribeToEnd, type RunFrame } from './run-feed.ts'
import type { Sheet } from './sheet.ts'

/** A run to watch: how it stands, and how to hear of the rest. */
export interface RunWatch {
  readonly first: readonly RunFrame[]
  /** See {@link EventBus.subscribe}; ends with the run. */
  subscribe(wake: () => void, sizeOf?: SizeOf<RunFrame>): Subscription<RunFrame>
}

/** Watches a run until it ends. Throws SheetError for an unknown one. */
export async function watchRun(sheet: Sheet, id: RunId): Promise<RunWatch> {
  const run = await getRun(sheet, id)
  const active = sheet.runs.get(id)
  // It may have ended since it was read: then there is nothing more to hear, and it is read again.
  if (run.state === 'running' && active !== undefined) {
    const { feed } = active
    return { first: [progressOf(run)], subscribe: (...subscriber) => feed.subscribe(...subscriber) }
  }
  const now = run.state === 'running' ? await getRun(sheet, id) : run
  if (now.state !== 'running') return { first: [], subscribe: (wake) => subscribeToEnd(now, wake) }
  return {
    first: [progressOf(now)],
    subscribe: (...subscriber) => followRun(sheet, now).subscribe(...subscriber),
  }
}

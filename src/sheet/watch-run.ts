import { EventBus, type Subscription } from '../events/event-bus.ts'
import type { RunId, StoredRun } from '../store/stored-run.ts'
import { getRun } from './read-runs.ts'
import { subscribeToEnd, type RunFrame } from './run-feed.ts'
import type { Sheet } from './sheet.ts'

/** How often a run of another process is looked at. */
const LOOK_MS = 500

/** A run to watch: how it stands, and how to hear of the rest. */
export interface RunWatch {
  readonly first: readonly RunFrame[]
  /** See {@link EventBus.subscribe}; ends with the run. */
  subscribe(wake: () => void): Subscription<RunFrame>
}

/** Watches a run until it ends. Throws SheetError for an unknown one. */
export async function watchRun(sheet: Sheet, id: RunId): Promise<RunWatch> {
  const run = await getRun(sheet, id)
  const active = sheet.runs.get(id)
  // It may have ended since it was read: then there is nothing more to hear, and it is read again.
  if (run.state === 'running' && active !== undefined) {
    const { feed } = active
    return { first: [progressOf(run)], subscribe: (wake) => feed.subscribe(wake) }
  }
  const now = run.state === 'running' ? await getRun(sheet, id) : run
  if (now.state !== 'running') return { first: [], subscribe: (wake) => subscribeToEnd(now, wake) }
  return {
    first: [progressOf(now)],
    subscribe(wake) {
      const bus = new EventBus<RunFrame>()
      const subscription = bus.subscribe(wake)
      follow(sheet, now, bus)
      return subscription
    },
  }
}

/** Looks at a run of another process again and again, for as long as somebody listens. */
function follow(sheet: Sheet, begun: StoredRun, bus: EventBus<RunFrame>): void {
  let before = begun
  const look = async (): Promise<void> => {
    if (bus.size === 0) return
    const run = await getRun(sheet, begun.id)
    if (run.state !== 'running') {
      bus.publish({ kind: 'run.end', run })
      bus.close()
      return
    }
    if (run.done !== before.done || run.calls !== before.calls) bus.publish(progressOf(run))
    before = run
    later()
  }
  const later = (): void => {
    // A sheet that cannot be read any more has nothing more to tell.
    setTimeout(() => void look().catch(() => bus.close()), LOOK_MS).unref()
  }
  later()
}

function progressOf(run: StoredRun): RunFrame {
  const { id, done, total, materialized, skipped, failed, calls, totalCost } = run
  return {
    kind: 'run.progress',
    id,
    progress: { done, total, materialized, skipped, failed, calls, totalCost },
  }
}

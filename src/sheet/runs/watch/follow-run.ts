import { EventBus } from '../../../events/event-bus.ts'
import type { RunId, StoredRun } from '../../../store/stored-run.ts'
import { getRun } from '../read-runs.ts'
import { progressOf, type RunFrame } from '../../run-feed.ts'
import type { Sheet } from '../../sheet.ts'

/** How often a run of another process is looked at. */
const LOOK_MS = 500

/** The runs of other processes that somebody watches: however many watch one, it is looked at once. */
const FOLLOWED = new WeakMap<Sheet, Map<RunId, EventBus<RunFrame>>>()

/** Tells what becomes of a run of another process, for as long as somebody listens; subscribe to it at once. */
export function followRun(sheet: Sheet, begun: StoredRun): EventBus<RunFrame> {
  const followed = FOLLOWED.get(sheet) ?? new Map<RunId, EventBus<RunFrame>>()
  FOLLOWED.set(sheet, followed)
  const known = followed.get(begun.id)
  if (known !== undefined) return known
  const bus = new EventBus<RunFrame>()
  followed.set(begun.id, bus)
  const end = (): void => {
    // First, so that nobody joins what has ended.
    followed.delete(begun.id)
    bus.close()
  }
  let before = begun
  const look = async (): Promise<void> => {
    const run = await getRun(sheet, begun.id)
    if (run.state !== 'running') {
      bus.publish({ kind: 'run.end', run })
      end()
      return
    }
    if (run.done !== before.done || run.calls !== before.calls) bus.publish(progressOf(run))
    before = run
    later()
  }
  const later = (): void => {
    setTimeout(() => {
      if (bus.size === 0) end()
      // A sheet that cannot be read any more has nothing more to tell.
      else void look().catch(end)
    }, LOOK_MS).unref()
  }
  later()
  return bus
}

import { EventBus } from '../../../events/event-bus.ts'
import type { RunId, StoredRun } from '../../../store/stored-run.ts'
import { getRun } from '../read-runs.ts'
import { progressOf, type RunFrame } from '../../run-feed.ts'
import type { Sheet } from '../../sheet.ts'

/** The interval, in milliseconds, at which a run of another process is read. */
const POLL_MS = 500

/** The watched runs of other processes: one poll for all watchers of a run. */
const FOLLOWED = new WeakMap<Sheet, Map<RunId, EventBus<RunFrame>>>()

/** Publishes the frames of a run of another process while it has subscribers; subscribe at once. */
export function followRun(sheet: Sheet, begun: StoredRun): EventBus<RunFrame> {
  const followed = FOLLOWED.get(sheet) ?? new Map<RunId, EventBus<RunFrame>>()
  FOLLOWED.set(sheet, followed)
  const known = followed.get(begun.id)
  if (known !== undefined) return known
  const bus = new EventBus<RunFrame>()
  followed.set(begun.id, bus)
  const end = (): void => {
    // First, so that nobody subscribes to a closed bus.
    followed.delete(begun.id)
    bus.close()
  }
  let before = begun
  const poll = async (): Promise<void> => {
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
      // A sheet that can no longer be read has nothing more to publish.
      else void poll().catch(end)
    }, POLL_MS).unref()
  }
  later()
  return bus
}

import type { Placed } from '../../../events/frame.ts'
import type { SharedFrames } from '../../../store/shared-frames.ts'
import type { RunId, StoredRun } from '../../../store/stored-run.ts'
import { followRun } from './follow-run.ts'
import { getRun } from '../read-runs.ts'
import { progressOf, runStream, subscribeToEnd, type RunFrame, type RunWatch } from '../../run-feed.ts'
import { SharedSubscription } from './shared-subscription.ts'
import type { Sheet } from '../../sheet.ts'

/** The time, in milliseconds, after the end of a run, after which its last frames are no longer expected. */
const LAST_FRAMES_MS = 2000

/** The run to watch, and the last frame that was received. */
export interface SharedRunRequest {
  readonly id: RunId
  readonly after: number | null
}

/** Watches a run of any server, where servers share their frames. Throws SheetError for an unknown one. */
export async function watchSharedRun(
  sheet: Sheet,
  frames: SharedFrames,
  { id, after }: SharedRunRequest,
): Promise<RunWatch> {
  // First, so that everything after the read of the run is a later frame.
  const now = await frames.last()
  const run = await getRun(sheet, id)
  if (run.state !== 'running' && after === null) {
    return { first: [], position: null, subscribe: (wake) => subscribeToEnd(run, wake) }
  }
  const position = after ?? now
  const first: readonly Placed<RunFrame>[] = run.state === 'running' ? [progressOf(run)] : []
  return {
    first,
    position,
    subscribe: (wake) => {
      let onClosed = (): void => undefined
      const subscription = new SharedSubscription<RunFrame>({
        frames,
        stream: runStream(id),
        after: position,
        wake,
        isLast: ({ kind }) => kind === 'run.end',
        onClosed: () => onClosed(),
      })
      // Ends the subscription also when the server of the run did not publish its end, for example because it was
      // killed.
      onClosed = untilEnded(sheet, run, (ended) => subscription.endWith({ kind: 'run.end', run: ended }))
      return subscription
    },
  }
}

/** Polls a run until some time after its end, then calls `onEnd`. Returns a function that stops it. */
function untilEnded(sheet: Sheet, run: StoredRun, onEnd: (run: StoredRun) => void): () => void {
  let timer: NodeJS.Timeout | undefined
  const endLater = (ended: StoredRun): void => {
    timer = setTimeout(() => onEnd(ended), LAST_FRAMES_MS).unref()
  }
  if (run.state !== 'running') {
    endLater(run)
    return () => clearTimeout(timer)
  }
  const rows = followRun(sheet, run).subscribe(() => {
    for (let frame = rows.take(); frame !== undefined; frame = rows.take()) {
      if (frame.kind === 'run.end') endLater(frame.run)
    }
  })
  return () => {
    clearTimeout(timer)
    rows.close()
  }
}

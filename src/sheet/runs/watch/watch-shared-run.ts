import type { Placed } from '../../../events/frame.ts'
import type { SharedFrames } from '../../../store/shared-frames.ts'
import type { RunId, StoredRun } from '../../../store/stored-run.ts'
import { followRun } from './follow-run.ts'
import { getRun } from '../read-runs.ts'
import { progressOf, runStream, subscribeToEnd, type RunFrame, type RunWatch } from '../../run-feed.ts'
import { SharedSubscription } from './shared-subscription.ts'
import type { Sheet } from '../../sheet.ts'

/** The last frames of a run are told right after it has ended. When they do not come for so long, nobody will tell them. */
const LAST_WORDS_MS = 2000

/** Whose run, and what of it has been had already. */
export interface SharedRunRequest {
  readonly id: RunId
  readonly after: number | null
}

/** Watches a run where servers share their frames, whichever of them it is a run of. Throws SheetError for an unknown one. */
export async function watchSharedRun(
  sheet: Sheet,
  frames: SharedFrames,
  { id, after }: SharedRunRequest,
): Promise<RunWatch> {
  // First, so that whatever the run does after it has been read comes later.
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
      // It ends also when its server has told nobody that it has ended, as when it was killed.
      onClosed = untilEnded(sheet, run, (ended) => subscription.endWith({ kind: 'run.end', run: ended }))
      return subscription
    },
  }
}

/** Looks at a run until it has ended, and some time has gone by since; answers with how to stop. */
function untilEnded(sheet: Sheet, run: StoredRun, onEnd: (run: StoredRun) => void): () => void {
  let timer: NodeJS.Timeout | undefined
  const endLater = (ended: StoredRun): void => {
    timer = setTimeout(() => onEnd(ended), LAST_WORDS_MS).unref()
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

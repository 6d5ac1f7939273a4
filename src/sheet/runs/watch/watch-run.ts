import type { RunId } from '../../../store/stored-run.ts'
import { followRun } from './follow-run.ts'
import { getRun } from '../read-runs.ts'
import { progressOf, subscribeToEnd, type RunWatch } from '../../run-feed.ts'
import type { Sheet } from '../../sheet.ts'
import { watchSharedRun } from './watch-shared-run.ts'

/**
 * Watches a run until it ends. Where servers share their frames, it may be a run of any of them, and starts after the
 * frame `after`, if given. Throws SheetError for an unknown run.
 */
export async function watchRun(sheet: Sheet, id: RunId, after: number | null = null): Promise<RunWatch> {
  const { frames } = sheet
  if (frames !== undefined) return watchSharedRun(sheet, frames, { id, after })
  const position = null
  const run = await getRun(sheet, id)
  const active = sheet.runs.get(id)
  // It may have ended since it was read, then it is read again.
  if (run.state === 'running' && active !== undefined) {
    const { feed } = active
    return {
      first: [progressOf(run)],
      position,
      subscribe: (...subscriber) => feed.subscribe(...subscriber),
    }
  }
  const now = run.state === 'running' ? await getRun(sheet, id) : run
  if (now.state !== 'running') {
    return { first: [], position, subscribe: (wake) => subscribeToEnd(now, wake) }
  }
  return {
    first: [progressOf(now)],
    position,
    subscribe: (...subscriber) => followRun(sheet, now).subscribe(...subscriber),
  }
}

import type { Sheet } from '../sheet/sheet.ts'
import { watchRun } from '../sheet/watch-run.ts'
import type { ToolProgress } from './tool.ts'

/** Tells how far a run is, a few times a second and only when it got further; answers with how to stop that. */
export async function reportProgress(
  sheet: Sheet,
  id: string,
  onProgress: (progress: ToolProgress) => void,
): Promise<() => void> {
  const watch = await watchRun(sheet, id)
  let told = -1
  const tell = (frame: (typeof watch.first)[number]): void => {
    if (frame.kind !== 'run.progress' || frame.progress.done <= told) return
    const { done, total, failed, calls } = frame.progress
    told = done
    onProgress({ done, total, message: `run ${id}: ${calls} calls, ${failed} cells failed` })
  }
  for (const frame of watch.first) tell(frame)
  const subscription = watch.subscribe(() => {
    for (let frame = subscription.take(); frame !== undefined; frame = subscription.take()) tell(frame)
  })
  return () => subscription.close()
}

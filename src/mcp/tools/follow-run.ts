import { cancelRun } from '../../sheet/runs/cancel-run.ts'
import { resolveActor } from '../../sheet/resolve-actor.ts'
import type { Sheet } from '../../sheet/sheet.ts'
import { watchRun } from '../../sheet/runs/watch/watch-run.ts'
import type { ToolContext, ToolProgress } from './tool.ts'
import { countText } from './count-text.ts'

/** Waits for a run, telling how far it is; the run is cancelled when the call is. Rejects with what ended it early. */
export async function followRun<T>(
  { id, done }: { readonly id: string; readonly done: Promise<T> },
  { sheet, actor, signal, onProgress }: ToolContext,
): Promise<T> {
  const cancel = (): void => {
    void cancelRun(sheet, id, resolveActor(sheet, actor)).catch(() => undefined)
  }
  signal.addEventListener('abort', cancel)
  if (signal.aborted) cancel()
  let stop: (() => void) | null = null
  try {
    if (onProgress !== null) stop = await reportProgress(sheet, id, onProgress)
    return await done
  } finally {
    signal.removeEventListener('abort', cancel)
    stop?.()
  }
}

/** Tells how far a run is, a few times a second and only when it got further; answers with how to stop that. */
async function reportProgress(
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
    onProgress({
      done,
      total,
      message: `run ${id}: ${countText(calls, 'call')}, ${countText(failed, 'cell')} failed`,
    })
  }
  for (const frame of watch.first) tell(frame)
  const subscription = watch.subscribe(() => {
    for (let frame = subscription.take(); frame !== undefined; frame = subscription.take()) tell(frame)
  })
  return () => subscription.close()
}

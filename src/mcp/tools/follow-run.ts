import { cancelRun } from '../../sheet/runs/cancel-run.ts'
import { resolveActor } from '../../sheet/resolve-actor.ts'
import type { Sheet } from '../../sheet/sheet.ts'
import { watchRun } from '../../sheet/runs/watch/watch-run.ts'
import type { ToolContext, ToolProgress } from './tool.ts'
import { countText } from './count-text.ts'

/** Waits for a run and reports its progress; cancels the run when the call is cancelled. Rejects with the error that ended it early. */
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

/** Reports the progress of a run a few times a second, whenever it has changed; returns a function that stops this. */
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

import { cancelRun } from '../../../sheet/runs/cancel-run.ts'
import { getRun } from '../../../sheet/runs/read-runs.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { costText } from './cost-text.ts'
import { EXIT, type ExitCode } from '../../terminal/exit-codes.ts'
import { onInterrupt } from '../../terminal/interrupts.ts'
import { callsText, cellsText, grouped } from '../../terminal/progress-line.ts'
import { workOfRun } from '../../../wire/runs/work-of-run.ts'
import { showProgress, usualProgress, type ProgressStyle } from '../../terminal/progress.ts'

/** The end of a run that Ctrl-C can cancel. */
export type FollowedRun<T> =
  { readonly cancelled: false; readonly result: T } | { readonly cancelled: true; readonly code: ExitCode }

export interface FollowOptions {
  /** The actor of a cancellation. */
  readonly actor: string
  /** The style of progress; null is a bar at a terminal. */
  readonly progress: ProgressStyle | null
}

/**
 * Shows a run's progress until it ends. Ctrl-C cancels it; finished cells stay and are reported. Rejects with any other
 * error that ended the run early.
 */
export async function followRun<T>(
  { sheet, out }: CommandContext,
  run: { readonly id: string; readonly done: Promise<T> },
  { actor, progress }: FollowOptions,
): Promise<FollowedRun<T>> {
  const interrupts = onInterrupt(() => {
    // The run itself ends with the result of cancelling.
    void cancelRun(sheet, run.id, actor).catch(() => undefined)
  })
  const stopProgress = showProgress(progress ?? usualProgress(), () => {
    const counts = sheet.runs.get(run.id)?.feed.progress
    return counts && { ...counts, ...workOfRun(counts) }
  })
  try {
    return { cancelled: false, result: await run.done }
  } catch (error) {
    if (!interrupts.seen) throw error
  } finally {
    stopProgress()
    interrupts.release()
  }
  const ended = await getRun(sheet, run.id)
  const { materialized, calls, totalCost: cost, unpricedCalls } = ended
  const spent = calls > 0 ? `, ${costText(calls, { cost, unpricedCalls })}` : ''
  const what = `${grouped(materialized)} of ${cellsText(workOfRun(ended).total)} were done and stay`
  out.note(`Cancelled: ${what} (run ${run.id}, ${callsText(calls)}${spent}).`)
  return { cancelled: true, code: EXIT.interrupted }
}

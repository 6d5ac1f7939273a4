import type { RunSummary } from '../../../../src/wire/runs/runs.ts'
import { countOf, formatCount } from '../../ui/format.ts'

export const RUN_STATES = ['running', 'finished', 'failed', 'cancelled', 'interrupted'] as const

export type RunStateName = (typeof RUN_STATES)[number]

/** The meaning of each state. */
export const RUN_STATE_LABELS: Readonly<Record<RunStateName, string>> = {
  running: 'Running: in progress, or waiting for another run',
  finished: 'Finished: all cells were processed; some may have failed',
  failed: 'Failed: an error stopped the run',
  cancelled: 'Cancelled: someone stopped the run',
  interrupted: 'Interrupted: the server stopped before the run ended',
}

/** Maps states that this version does not know to `failed`. */
export function runStateOf(state: string): RunStateName {
  return RUN_STATES.find((each) => each === state) ?? 'failed'
}

/** Names a run in a sentence: `Run 12`, `Revert of run 12`. */
export function runName({ id, kind, reverts }: Pick<RunSummary, 'id' | 'kind' | 'reverts'>): string {
  return kind === 'revert' && reverts !== null ? `Revert of run ${reverts}` : `Run ${id}`
}

const ENDS: Readonly<Record<RunStateName, string>> = {
  running: 'is running',
  finished: 'finished',
  failed: 'failed',
  cancelled: 'was cancelled',
  interrupted: 'was interrupted',
}

/** Returns the message about the end of a run. */
export function endText(run: RunSummary): string {
  const end = `${runName(run)} ${ENDS[runStateOf(run.state)]}: ${countsText(run)}`
  return run.state === 'failed' && run.error !== null ? `${end}. ${endReason(run.error)}` : end
}

/** Returns the message about the error that ended a run. */
export function endReason({ code, message }: NonNullable<RunSummary['error']>): string {
  return code === 'internal_error'
    ? 'An internal error stopped the run: the log of the server has details'
    : message
}

/** Returns the counts of a run: `134 cells computed, 3 failed`. */
export function countsText({ kind, materialized, skipped, failed }: RunSummary): string {
  if (kind === 'revert') {
    const back = `${countOf(materialized, 'cell')} reverted`
    return skipped === 0 ? back : `${back}, ${formatCount(skipped)} skipped`
  }
  const computed = `${countOf(materialized, 'cell')} computed`
  return failed === 0 ? computed : `${computed}, ${formatCount(failed)} failed`
}

/** Returns the duration of a run in milliseconds. */
export function tookMs({ started_at, ended_at }: RunSummary, now: number): number {
  return Math.max(0, (ended_at === null ? now : Date.parse(ended_at)) - Date.parse(started_at))
}

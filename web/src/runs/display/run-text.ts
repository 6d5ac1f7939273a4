import type { RunSummary } from '../../../../src/wire/runs/runs.ts'
import { workOfRun, type RunWork } from '../../../../src/wire/runs/work-of-run.ts'
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

type NamedRun = Pick<RunSummary, 'id' | 'kind' | 'reverts' | 'file'>

/** Names a run in a sentence: `Run 12`, `Revert of run 12`, `Import of people.csv`. */
export function runName({ id, kind, reverts, file }: NamedRun): string {
  if (kind === 'import') return `Import of ${file ?? 'a file'}`
  return kind === 'revert' && reverts !== null ? `Revert of run ${reverts}` : `Run ${id}`
}

/** Returns the name of a run for the middle of a sentence: `revert of run 12`. */
export function runNameWithin(run: NamedRun): string {
  const name = runName(run)
  return `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`
}

/** Returns what a run counts: the records of a file, or cells. */
export function runUnit({ kind }: Pick<RunSummary, 'kind'>): 'record' | 'cell' {
  return kind === 'import' ? 'record' : 'cell'
}

/** Returns the progress of a run to show: without cells that it skips; of an import, unchanged records count. */
export function shownWork(run: Pick<RunSummary, 'kind' | 'done' | 'total' | 'skipped'>): RunWork {
  return run.kind === 'import' ? run : workOfRun(run)
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

/** Returns the counts of a run: `134 cells computed, 3 failed`, `12 records written, 3 unchanged`. */
export function countsText({ kind, materialized, skipped, failed }: RunSummary): string {
  if (kind === 'revert') {
    const back = `${countOf(materialized, 'cell')} reverted`
    return skipped === 0 ? back : `${back}, ${formatCount(skipped)} skipped`
  }
  if (kind === 'import') {
    const written = `${countOf(materialized, 'record')} written`
    return skipped === 0 ? written : `${written}, ${formatCount(skipped)} unchanged`
  }
  const computed = `${countOf(materialized, 'cell')} computed`
  return failed === 0 ? computed : `${computed}, ${formatCount(failed)} failed`
}

/** Returns the duration of a run in milliseconds. */
export function tookMs({ started_at, ended_at }: RunSummary, now: number): number {
  return Math.max(0, (ended_at === null ? now : Date.parse(ended_at)) - Date.parse(started_at))
}

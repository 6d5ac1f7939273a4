import type { RunSummary } from '../../../../src/wire/runs/runs.ts'
import { countOf, formatCount } from '../../ui/format.ts'
import './run-bar.css'
import { runName, runUnit, shownWork } from './run-text.ts'

/** The progress of a run, with a separate part for failures. */
export function RunBar({ run }: { readonly run: RunSummary }) {
  const { done, total } = shownWork(run)
  const { failed } = run
  const isKnown = run.total > 0
  const text = isKnown ? `${formatCount(done)} of ${countOf(total, runUnit(run))}` : 'waiting to start'
  return (
    <span
      className={`run-bar ${isKnown ? '' : 'waiting'}`}
      role="progressbar"
      aria-label={runName(run)}
      aria-valuemin={0}
      aria-valuemax={isKnown ? total : undefined}
      aria-valuenow={isKnown ? done : undefined}
      aria-valuetext={text}
    >
      <span className="run-bar-done" style={{ width: percent(done - failed, total) }} />
      <span className="run-bar-failed" style={{ width: percent(failed, total) }} />
    </span>
  )
}

function percent(part: number, total: number): string {
  return total > 0 ? `${Math.min(100, (part / total) * 100)}%` : '0'
}

import { X } from 'lucide-react'
import { Link } from 'wouter'
import type { RunSummary } from '../../../../src/wire/runs/runs.ts'
import { IconButton } from '../../ui/button.tsx'
import { formatCount, formatRate, formatTimeLeft } from '../../ui/format.ts'
import { runCost } from '../display/plan-text.ts'
import { secondsLeft } from './rate-meter.ts'
import { RunBar } from '../display/run-bar.tsx'
import './running-now.css'
import { runName, runNameWithin, runUnit, shownWork } from '../display/run-text.ts'
import type { Running } from './running-store.ts'

interface RunningNowProps {
  readonly running: Running
  readonly run: RunSummary
  /** Whether the server is unreachable. */
  readonly isLost: boolean
  readonly onCancel: () => void
}

/** The progress of the current run in the header; the most important items come first, as space allows. */
export function RunningNow({ running: { perSecond, waiting }, run, isLost, onCancel }: RunningNowProps) {
  const work = shownWork(run)
  const left = secondsLeft(work, perSecond)
  const name = runName(run)
  return (
    <div className="run-status" role="group" aria-label={`${name} is running`}>
      <Link href={`/runs/${run.id}`} className="run-status-link" title={`${name}, started by ${run.actor}`}>
        <RunBar run={run} />
        {run.total === 0 ? (
          <span>waiting to start</span>
        ) : (
          <span className="run-status-count">
            {formatCount(work.done)} / {formatCount(work.total)}
          </span>
        )}
        {isLost && <span className="run-status-bad">no connection</span>}
        {run.failed > 0 && <span className="run-status-bad">{formatCount(run.failed)} failed</span>}
        {left !== null && !isLost && <span>{formatTimeLeft(left)} left</span>}
        {run.kind === 'materialize' && run.total > 0 && <span>{runCost(run)}</span>}
        {perSecond !== null && !isLost && <span>{formatRate(perSecond, `${runUnit(run)}s`)}</span>}
        {waiting > 0 && <span>+{waiting} waiting</span>}
      </Link>
      <IconButton label={`Cancel ${runNameWithin(run)}`} onClick={onCancel}>
        <X size={15} />
      </IconButton>
    </div>
  )
}

import type { RunSummary } from '../../../src/wire/runs/runs.ts'
import { countOf, formatCount, formatRate, formatTimeLeft } from '../ui/format.ts'
import { runCost } from './display/plan-text.ts'
import { endReason, runUnit, shownWork } from './display/run-text.ts'
import { secondsLeft } from './progress/rate-meter.ts'
import { RunBar } from './display/run-bar.tsx'

/** The names of the counts of each kind of run. */
const COUNT_NAMES = {
  materialize: { computed: 'computed', skipped: 'skipped' },
  revert: { computed: 'reverted', skipped: 'conflicts' },
  import: { computed: 'written', skipped: 'unchanged' },
} as const

interface RunOutcomeProps {
  readonly run: RunSummary
  readonly perSecond: number | null
}

/** The counts of a run, and why it ended early. */
export function RunOutcome({ run, perSecond }: RunOutcomeProps) {
  const { computed, skipped } = COUNT_NAMES[run.kind]
  const makesCalls = run.kind === 'materialize'
  return (
    <>
      {run.state === 'running' && <Progress run={run} perSecond={perSecond} />}
      <EndReason run={run} />
      <dl className="run-counts">
        <Count name={computed} count={run.materialized} />
        <Count name={skipped} count={run.skipped} />
        {makesCalls && <Count name="failed" count={run.failed} isBad={run.failed > 0} />}
        {makesCalls && <Count name={run.calls === 1 ? 'call' : 'calls'} count={run.calls} />}
        {makesCalls && (
          <div>
            <dt>spent</dt>
            <dd>{runCost(run)}</dd>
          </div>
        )}
      </dl>
      {run.left > 0 && (
        <p className="run-why">
          The limits excluded {countOf(run.left, 'cell')} that could have been computed.
        </p>
      )}
    </>
  )
}

function Count({
  name,
  count,
  isBad = false,
}: {
  readonly name: string
  readonly count: number
  readonly isBad?: boolean
}) {
  return (
    <div className={isBad ? 'bad' : ''}>
      <dt>{name}</dt>
      <dd>{formatCount(count)}</dd>
    </div>
  )
}

function Progress({ run, perSecond }: RunOutcomeProps) {
  const work = shownWork(run)
  const left = secondsLeft(work, perSecond)
  const parts = [
    run.total === 0
      ? 'Waiting to start'
      : `${formatCount(work.done)} of ${countOf(work.total, runUnit(run))}`,
    perSecond === null ? null : formatRate(perSecond, `${runUnit(run)}s`),
    left === null ? null : `${formatTimeLeft(left)} left`,
  ]
  return (
    <div className="run-going">
      <RunBar run={run} />
      <p>{parts.filter((part) => part !== null).join(' · ')}</p>
    </div>
  )
}

function EndReason({ run }: { readonly run: RunSummary }) {
  const { state, error, cancelled_by: cancelledBy } = run
  const { done, total } = shownWork(run)
  const reached =
    run.total > 0 ? ` It had processed ${formatCount(done)} of ${countOf(total, runUnit(run))}.` : ''
  switch (state) {
    case 'interrupted':
      return (
        <p className="run-why">
          The server stopped before this run ended.{reached} Stored results are kept.{' '}
          {run.kind === 'materialize' &&
            'Calls in flight may have been charged without their results being stored. '}
          {run.force && ' This run recomputes fresh cells: continuing it starts from the beginning.'}
        </p>
      )
    case 'cancelled':
      return (
        <p className="run-why">
          Cancelled{cancelledBy === null ? '' : ` by ${cancelledBy}`}.{reached} Stored results are kept.
        </p>
      )
    case 'failed':
      return (
        <p className="run-why bad">
          {error === null ? 'The run was stopped by an error.' : `${error.type}: ${endReason(error)}`}
          {reached}
        </p>
      )
    default:
      return null
  }
}

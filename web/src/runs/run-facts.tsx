import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { RunAnswer } from '../../../src/wire/runs/runs.ts'
import { stepCountLines } from '../../../src/wire/runs/step-counts.ts'
import type { SheetContract } from '../api/contract.ts'
import { exactTime } from '../ui/time-text.ts'
import { formatCount, formatDuration, formatMoney } from '../ui/format.ts'
import { Moment } from '../ui/moment.tsx'
import { tookMs } from './display/run-text.ts'
import { useNow } from '../ui/use-now.ts'

interface RunFactsProps {
  readonly run: RunAnswer
  readonly contract: SheetContract
}

/** The order of a run, its actor and times. */
export function RunFacts({ run, contract }: RunFactsProps) {
  return (
    <section aria-label="Details" className="run-section">
      <h3>Details</h3>
      <dl className="run-facts">
        {run.kind === 'revert' ? (
          <Fact name="Reverts">
            {run.reverts === null ? '–' : <Link href={`/runs/${run.reverts}`}>Run {run.reverts}</Link>}
          </Fact>
        ) : run.kind === 'import' ? (
          <Fact name="File">{run.file}</Fact>
        ) : (
          <Order run={run} contract={contract} />
        )}
        <Fact name="By">{run.actor}</Fact>
        <Fact name="Started">
          <Moment at={run.started_at} />{' '}
          <span className="run-exact">{firstLine(exactTime(run.started_at))}</span>
        </Fact>
        {run.steps !== undefined && (
          <Fact name="Fallbacks">
            {stepCountLines(run, formatMoney).map((line) => (
              <div key={line}>{line}</div>
            ))}
          </Fact>
        )}
        {run.ended_at !== null && (
          <Fact name={run.state === 'interrupted' ? 'Last stored' : 'Ended'}>
            <Moment at={run.ended_at} />{' '}
            <span className="run-exact">{firstLine(exactTime(run.ended_at))}</span>
          </Fact>
        )}
        <Fact name="Duration">
          {run.ended_at === null ? <Since run={run} /> : formatDuration(tookMs(run, 0))}
        </Fact>
      </dl>
    </section>
  )
}

function Order({ run, contract }: RunFactsProps) {
  const bounds = [
    run.limit === null ? null : `the first ${formatCount(run.limit)} records with pending cells`,
    run.max_calls === null ? null : `at most ${formatCount(run.max_calls)} calls`,
    run.max_cost === null ? null : `at most ${formatMoney(run.max_cost)}`,
    run.stop_after_failures === null
      ? null
      : `stops after ${formatCount(run.stop_after_failures)} consecutive failures`,
  ].filter((bound) => bound !== null)
  return (
    <>
      <Fact name="Fields">
        {run.targets === null ? 'all derived fields' : run.targets.map(contract.titleOf).join(', ') || 'none'}
      </Fact>
      <Fact name="Records">{run.record_ids === null ? 'all' : <Records ids={run.record_ids} />}</Fact>
      <Fact name="Cells">
        {run.only === null ? (run.force ? 'all' : 'missing, stale or failed') : `only ${run.only}`}
        {run.force &&
          `, including fresh and cached${run.overwrite_manual ? ', overwriting manual values' : ''}`}
      </Fact>
      {(run.manual_left > 0 || run.manual_overwritten > 0) && (
        <Fact name="Manual values">
          {[
            ...(run.manual_overwritten > 0 ? [`${formatCount(run.manual_overwritten)} overwritten`] : []),
            ...(run.manual_left > 0 ? [`${formatCount(run.manual_left)} kept`] : []),
          ].join(', ')}
        </Fact>
      )}
      {run.reuse_responses && <Fact name="Responses">kept responses are reused</Fact>}
      {run.keep_fresh !== undefined && <Fact name="Marks as fresh">{run.keep_fresh}</Fact>}
      {bounds.length > 0 && <Fact name="Limits">{bounds.join(', ')}</Fact>}
    </>
  )
}

const RECORDS_LISTED = 20

function Records({ ids }: { readonly ids: readonly string[] }) {
  const more = ids.length - RECORDS_LISTED
  return (
    <span className="run-records" title={ids.slice(0, 200).join(', ')}>
      {ids.length > 3 && `${formatCount(ids.length)}: `}
      {ids.slice(0, RECORDS_LISTED).join(', ') || 'none'}
      {more > 0 && ` and ${formatCount(more)} more`}
    </span>
  )
}

function Since({ run }: { readonly run: RunAnswer }) {
  return formatDuration(Math.floor(tookMs(run, useNow('seconds')) / 1000) * 1000)
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? ''
}

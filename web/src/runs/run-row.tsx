import { Link } from 'wouter'
import type { RunSummary } from '../../../src/wire/runs/runs.ts'
import type { SheetContract } from '../api/contract.ts'
import { formatDuration, formatMoney } from '../ui/format.ts'
import { RunBar } from './display/run-bar.tsx'
import { RunState } from './display/run-state.tsx'
import { Moment } from '../ui/moment.tsx'
import { runCost } from './display/plan-text.ts'
import { countsText, runName, tookMs } from './display/run-text.ts'
import { CountCell } from './display/count-cell.tsx'
import { moveFocus } from '../ui/move-focus.ts'

interface RunRowProps {
  readonly run: RunSummary
  readonly contract: SheetContract
  readonly isSelected: boolean
}

/** A run in the list; the whole row is a link. */
export function RunRow({ run, contract, isSelected }: RunRowProps) {
  const fields = fieldsText(run, contract)
  return (
    <tr className={isSelected ? 'selected' : ''}>
      <th scope="row">
        <Link
          href={`/runs/${run.id}`}
          className="run-row-link"
          aria-current={isSelected ? 'true' : undefined}
          onKeyDown={moveFocus}
        >
          {runName(run)}
        </Link>
        {run.kind !== 'materialize' && <small>run {run.id}</small>}
      </th>
      <td className="state">
        <RunState run={run} />
        {run.state === 'running' && <RunBar run={run} />}
      </td>
      <td className="when">
        <Moment at={run.started_at} />
      </td>
      <td className="wide actor" title={run.actor}>
        {run.actor}
      </td>
      <td className="wide fields" title={fields}>
        {fields}
      </td>
      <td className="number">{run.ended_at === null ? '' : formatDuration(tookMs(run, 0))}</td>
      <CountCell count={run.materialized} />
      <CountCell count={run.skipped} className="wide" />
      <CountCell count={run.failed} className={run.failed > 0 ? 'bad' : ''} />
      <CountCell count={run.calls} className="wide" />
      <td className="narrow">{summaryText(run)}</td>
      <td className={`number ${run.total_cost === 0 ? 'none' : ''}`}>{runCost(run)}</td>
    </tr>
  )
}

/** Replaces the columns on narrow screens. */
function summaryText(run: RunSummary): string {
  const parts = [countsText(run)]
  if (run.ended_at !== null) parts.push(formatDuration(tookMs(run, 0)))
  if (run.total_cost > 0) parts.push(formatMoney(run.total_cost))
  return parts.join(' · ')
}

function fieldsText({ kind, targets }: RunSummary, contract: SheetContract): string {
  if (kind !== 'materialize') return '–'
  if (targets === null) return 'all'
  return targets.map(contract.titleOf).join(', ')
}

import { blockedMessage } from '../../../../src/wire/runs/blocked-message.ts'
import type { RunPlanAnswer } from '../../../../src/wire/runs/materialize.ts'
import { messageOf } from '../../api/api-error.ts'
import type { RunOrder } from '../../../../src/client/client.ts'
import { countOf, formatCount } from '../../ui/format.ts'
import {
  estimateText,
  rangeText,
  isNothing,
  planCost,
  retryText,
  totalsOf,
  type PlanTotals,
} from '../display/plan-text.ts'
import { TableHead, type HeadColumn } from '../../ui/table-head.tsx'
import { CountCell } from '../display/count-cell.tsx'

interface RunPlanProps {
  readonly plan: RunPlanAnswer | null
  readonly isCurrent: boolean
  readonly error: Error | null
  readonly order: RunOrder
  readonly titleOf: (field: string) => string
}

/** The plan of a run: calls, cost, and cells by field. An outdated plan is greyed until the new one is loaded. */
export function RunPlan({ plan, isCurrent, error, order, titleOf }: RunPlanProps) {
  if (error !== null) {
    return (
      <p className="form-error run-plan-error" role="alert">
        {messageOf(error)}
      </p>
    )
  }
  if (plan === null) return <p className="run-plan-wait">Planning…</p>
  return (
    <section className={`run-plan ${isCurrent ? '' : 'old'}`} aria-label="Plan" aria-busy={!isCurrent}>
      <div role="status">{isNothing(plan) ? <Nothing order={order} /> : <Sum plan={plan} />}</div>
      <Manual plan={plan} />
      <Waiting plan={plan} />
      {!isNothing(plan) && <TargetTable plan={plan} titleOf={titleOf} />}
      {totalsOf(plan).left > 0 && (
        <p className="form-hint">
          The limits exclude {countOf(totalsOf(plan).left, 'cell')} that could be computed.
        </p>
      )}
      {plan.stop_after_failures !== undefined && plan.calls > 0 && (
        <p className="form-hint">
          Stops after {countOf(plan.stop_after_failures, 'consecutive failure')} at one host, and immediately
          when a call is refused (401, 402, 403).
        </p>
      )}
      {plan.not_ready?.map((message) => (
        <p key={message} className="form-error">
          The server would refuse this run: {message}
        </p>
      ))}
    </section>
  )
}

function Manual({ plan }: { readonly plan: RunPlanAnswer }) {
  const { manual_left: kept = 0, manual_overwritten: lost = 0 } = plan
  return (
    <>
      {lost > 0 && (
        <p className="form-error">
          <strong>Overwrites {countOf(lost, 'manual value')}.</strong>
        </p>
      )}
      {kept > 0 && <p className="form-hint">Keeps {countOf(kept, 'manual value')}.</p>}
    </>
  )
}

function Waiting({ plan }: { readonly plan: RunPlanAnswer }) {
  return [blockedMessage(plan), retryText(plan)].map((text) =>
    text === null ? null : (
      <p key={text} className="form-hint">
        {text}
      </p>
    ),
  )
}

function Sum({ plan }: { readonly plan: RunPlanAnswer }) {
  const { compute, cached } = totalsOf(plan)
  const unpriced = plan.unpriced_calls ?? 0
  const range = rangeText(plan)
  return (
    <>
      <p className="run-plan-sum">
        {plan.at_most === true && <span className="run-plan-bound">at most</span>}
        <span>
          <strong>{formatCount(plan.calls)}</strong> {plan.calls === 1 ? 'call' : 'calls'}
        </span>
        <span>
          <strong>{planCost(plan)}</strong>
        </span>
        <span>
          <strong>{formatCount(compute + cached)}</strong> {compute + cached === 1 ? 'cell' : 'cells'}
        </span>
      </p>
      {range !== null && <p className="form-hint">{range}</p>}
      {plan.estimate !== undefined && <p className="form-hint">{estimateText(plan)}</p>}
      {unpriced > 0 && (
        <p className="form-hint">
          The cost of {countOf(unpriced, 'call')} is unknown: set cost_per_call of the hosts in
          transport.yaml, and price of the models in models.yaml.
        </p>
      )}
      {plan.at_most === true && range === null && (
        <p className="form-hint">
          This run also computes some of the inputs, so these numbers are upper bounds.
        </p>
      )}
    </>
  )
}

function Nothing({ order }: { readonly order: RunOrder }) {
  return (
    <p className="run-plan-nothing">
      <strong>Nothing to compute.</strong> {emptyPlanReason(order)}
    </p>
  )
}

function emptyPlanReason({ only, force, max_calls, max_cost }: RunOrder): string {
  if (max_calls !== undefined || max_cost !== undefined)
    return 'The limits allow no call, or no cell needs one.'
  if (only !== undefined) return `No ${only} cell can be computed.`
  if (force === true) return 'Every cell has a manual value, which is kept, or is blocked by an input.'
  return 'Every cell is fresh, has a manual value, is blocked by an input, or failed and is retried later.'
}

const COLUMNS: readonly HeadColumn[] = [
  { name: 'Field' },
  { name: 'Compute', title: 'Cells to be computed by a call' },
  { name: 'Cached', title: 'Cells to be filled from the cache, without a call' },
  { name: 'Skipped', title: 'Cells that the run does not change' },
]

function TargetTable({
  plan,
  titleOf,
}: {
  readonly plan: RunPlanAnswer
  readonly titleOf: (field: string) => string
}) {
  const all = Object.entries(plan.targets)
  // Targets with pending cells come first.
  const targets = [
    ...all.filter(([, cells]) => hasWork(cells)),
    ...all.filter(([, cells]) => !hasWork(cells)),
  ]
  const totals = totalsOf(plan)
  return (
    <div className="run-plan-cells">
      <table className="run-plan-table">
        <TableHead columns={COLUMNS} />
        <tbody>
          {targets.map(([target, cells]) => (
            <tr key={target}>
              <th scope="row" title={target}>
                {titleOf(target)}
              </th>
              <CountCell count={cells.compute} />
              <CountCell count={cells.cached} />
              <CountCell count={cells.skipped} />
            </tr>
          ))}
        </tbody>
        {targets.length > 1 && (
          <tfoot>
            <tr>
              <th scope="row">{countOf(targets.length, 'field')}</th>
              <CountCell count={totals.compute} />
              <CountCell count={totals.cached} />
              <CountCell count={totals.skipped} />
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  )
}

function hasWork({ compute, cached }: Pick<PlanTotals, 'compute' | 'cached'>): boolean {
  return compute > 0 || cached > 0
}

import { useQuery } from '@tanstack/react-query'
import type { TargetStatusAnswer } from '../../../../src/wire/runs/status.ts'
import { statusQuery } from '../../api/queries.ts'
import { isComplete, shownCount } from '../../derivations/status-text.ts'
import { percent } from '../../summary/summary-text.ts'
import { formatCount } from '../../ui/format.ts'

/** The states of the cells of a derived column, in its head: `98% fresh · 3 failed`. */
export function ColumnStates({ name }: { readonly name: string }) {
  const { data } = useQuery(statusQuery)
  const status = data?.[name]
  if (status === undefined || status.total_records === 0) return <div className="column-states" />
  const [failed, stale] = [shownCount(status, 'failed'), shownCount(status, 'stale')]
  return (
    <div className="column-states" title={countsOf(status)}>
      <span>{shareText(status)}</span>
      {failed > 0 && <span className="failed"> · {formatCount(failed)} failed</span>}
      {stale > 0 && <span> · {formatCount(stale)} stale</span>}
    </div>
  )
}

/** The share of fresh cells among those that can be computed. */
function shareText(status: TargetStatusAnswer): string {
  const { fresh, missing, blocked, ready, total_records: total } = status
  if (missing === total) return 'Not computed'
  if (blocked > 0 && isComplete(status)) return 'Complete'
  return `${percent(fresh, total - (missing - ready.missing))} fresh`
}

/** Lists the counts of all states, for the tooltip. */
function countsOf({ fresh, stale, missing, failed, overridden, blocked }: TargetStatusAnswer): string {
  return Object.entries({ fresh, stale, missing, failed, overridden, blocked })
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${formatCount(count)} ${state}`)
    .join(' · ')
}

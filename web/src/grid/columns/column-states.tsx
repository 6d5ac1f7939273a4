import { useQuery } from '@tanstack/react-query'
import type { TargetStatusAnswer } from '../../../../src/wire/runs/status.ts'
import { statusQuery } from '../../api/queries.ts'
import { percent } from '../../summary/summary-text.ts'
import { formatCount } from '../../ui/format.ts'

/** The states of the cells of a derived column, in its head: `98% fresh · 3 failed`. */
export function ColumnStates({ name }: { readonly name: string }) {
  const { data } = useQuery(statusQuery)
  const status = data?.[name]
  if (status === undefined || status.total_records === 0) return <div className="column-states" />
  const { failed, stale } = status
  return (
    <div className="column-states" title={countsOf(status)}>
      <span>{shareText(status)}</span>
      {failed > 0 && <span className="failed"> · {formatCount(failed)} failed</span>}
      {stale > 0 && <span> · {formatCount(stale)} stale</span>}
    </div>
  )
}

function shareText({ fresh, missing, total_records: total }: TargetStatusAnswer): string {
  return missing === total ? 'Not computed' : `${percent(fresh, total)} fresh`
}

/** Lists the counts of all states, for the tooltip. */
function countsOf({ fresh, stale, missing, failed, overridden, blocked }: TargetStatusAnswer): string {
  return Object.entries({ fresh, stale, missing, failed, overridden, blocked })
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${formatCount(count)} ${state}`)
    .join(' · ')
}

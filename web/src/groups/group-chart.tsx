import type { SheetContract, SheetField } from '../api/contract.ts'
import { messageOf } from '../api/api-error.ts'
import type { Condition } from '../state/conditions.ts'
import { filterOf, type GroupsView } from '../state/view-state.ts'
import { useGroups, useSummary } from '../summary/use-summary.ts'
import { Button } from '../ui/button.tsx'
import { countOf } from '../ui/format.ts'
import { withoutField } from './group-conditions.ts'
import { GroupLegend, GroupList } from './group-list.tsx'
import { groupRows } from './group-rows.ts'
import { HistogramView } from './histogram-view.tsx'
import { LineChart } from './line-chart.tsx'

interface GroupChartProps {
  readonly contract: SheetContract
  readonly groups: GroupsView
  readonly by: SheetField
  /** The filter of the grid. */
  readonly conditions: readonly Condition[]
  readonly sql: string | null
  readonly onFilter: (conditions: readonly Condition[]) => void
  /** The most groups listed below a picture, or in place of one; null for all. */
  readonly most: { readonly withPicture: number; readonly alone: number } | null
}

/** Groups of the records of the grid: a picture of them, and a list. A press on one limits the records to it. */
export function GroupChart({ contract, groups, by, conditions, sql, onFilter, most }: GroupChartProps) {
  const fieldOf = (name: string | null): SheetField | null => contract.fieldByName.get(name ?? '') ?? null
  const [split, total] = [fieldOf(groups.split), fieldOf(groups.total)]
  const filter = filterOf({ conditions: withoutField(conditions, by.name), sql })
  const isTime = by.type === 'date' || by.type === 'timestamp'
  const hasHistogram = (by.type === 'number' || by.type === 'integer') && total === null
  const { data, error, isWaiting, retry } = useGroups(
    {
      group: by.name,
      split: split?.name,
      totals: total === null ? undefined : [total.name],
      period: groups.period,
    },
    filter,
  )
  const { data: spread } = useSummary(by.name, filter, hasHistogram, split?.name)
  // The histogram of a large sheet may be there before the groups of its values.
  const counted = data ?? { count: 0, groups: [] }
  const shown = groupRows(counted, { by, split, total, summary: spread?.summary ?? null })
  const choosing = { by, conditions, onFilter }
  const { rows, splits } = shown
  const limit = most === null ? Infinity : isTime || hasHistogram ? most.withPicture : most.alone
  const listed = rows.slice(0, limit)
  return (
    <div className="groups-chart" aria-busy={isWaiting && error === null}>
      {error !== null && (
        <p className="groups-note" role="alert">
          Cannot count the groups: {messageOf(error)} <Button onClick={retry}>Try again</Button>
        </p>
      )}
      {isTime && <LineChart {...choosing} groups={shown} />}
      {hasHistogram && spread !== null && <HistogramView {...choosing} counted={spread} splits={splits} />}
      <GroupLegend split={split} splits={splits} />
      {listed.length > 0 && <GroupList {...choosing} total={total} groups={shown} rows={listed} />}
      {data !== null && rows.length === 0 && <p className="groups-note">No record matches the filter.</p>}
      {listed.length < rows.length && limit > 0 && (
        <p className="groups-note">{countOf(rows.length - listed.length, 'more group')}</p>
      )}
      {most === null && shown.left > 0 && (
        <p className="groups-note">{countOf(shown.left, 'record')} in smaller groups, or with long texts.</p>
      )}
    </div>
  )
}

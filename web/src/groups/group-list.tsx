import { ChevronDown, ChevronRight } from 'lucide-react'
import type { SheetField } from '../api/contract.ts'
import { countOf, formatCount } from '../ui/format.ts'
import { formatValue } from '../values/format-value.ts'
import { HUES, rounded, type Choosing } from './choosing.ts'
import { groupCondition, isOpen, toggleGroup } from './group-conditions.ts'
import type { GroupRow, GroupRows, SplitValue } from './group-rows.ts'

/** The colours of the values of the second field. */
export function GroupLegend({
  split,
  splits,
}: {
  readonly split: SheetField | null
  readonly splits: readonly SplitValue[]
}) {
  if (splits.length === 0) return null
  return (
    <ul className="groups-legend" aria-label={`Values of ${split?.title ?? ''}`}>
      {splits.map(({ label, place }) => (
        <li key={place}>
          <span className="groups-swatch" data-hue={place % HUES} />
          {label}
        </li>
      ))}
    </ul>
  )
}

interface GroupListProps extends Choosing {
  /** The field that is added up; null for the number of records. */
  readonly total: SheetField | null
  readonly groups: GroupRows
  /** The groups that are listed. */
  readonly rows: readonly GroupRow[]
}

/** The groups with their bars: a press opens one, so that the grid shows its records, or closes it. */
export function GroupList({ by, total, groups, rows, conditions, onFilter }: GroupListProps) {
  const greatest = Math.max(...groups.rows.map(({ size }) => Math.abs(size)), 0)
  return (
    <ul className="groups-list" aria-label={`Groups by ${by.title}`}>
      {rows.map((row) => {
        const condition = groupCondition(by, row.value)
        const isExpanded = isOpen(conditions, condition)
        return (
          <li key={`${typeof row.value} ${String(row.value)}`}>
            <button
              type="button"
              className="group-row"
              aria-expanded={isExpanded}
              onClick={() => onFilter(toggleGroup(conditions, condition))}
            >
              <span className="visually-hidden">{labelOf(row, total)}</span>
              {isExpanded ? <ChevronDown size={14} /> : <ChevronRight size={14} />}
              <span className="group-label" aria-hidden="true">
                {row.label}
              </span>
              {total !== null && (
                <span className="group-sum" aria-hidden="true">
                  {formatValue('number', rounded(row.size))}
                </span>
              )}
              <span className="group-count" aria-hidden="true">
                {formatCount(row.count)}
              </span>
              <Bar row={row} greatest={greatest} isSplit={groups.splits.length > 0} />
            </button>
          </li>
        )
      })}
    </ul>
  )
}

interface BarProps {
  readonly row: GroupRow
  /** The size of the longest bar. */
  readonly greatest: number
  readonly isSplit: boolean
}

function Bar({ row, greatest, isSplit }: BarProps) {
  return (
    <span className="group-bar">
      {row.parts.map(({ place, label, size }) => (
        <span
          key={place}
          title={isSplit ? `${label}: ${formatValue('number', rounded(size))}` : undefined}
          data-hue={isSplit ? place % HUES : undefined}
          style={{ width: `${greatest === 0 ? 0 : (Math.abs(size) / greatest) * 100}%` }}
        />
      ))}
    </span>
  )
}

function labelOf({ label, count, size, parts }: GroupRow, total: SheetField | null): string {
  const texts = [`${label}: ${countOf(count, 'record')}`]
  if (total !== null) texts.push(`sum of ${total.title} ${formatValue('number', rounded(size))}`)
  for (const part of parts)
    if (part.label !== '') texts.push(`${part.label} ${formatValue('number', rounded(part.size))}`)
  return texts.join(', ')
}

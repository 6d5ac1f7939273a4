import { ArrowDown, ArrowDownUp, ArrowUp, EllipsisVertical, Lock, Sparkles } from 'lucide-react'
import type { ComponentProps } from 'react'
import { ColumnSummary } from '../../summary/column-summary.tsx'
import { withCondition, type Condition } from '../../state/conditions.ts'
import { cellId } from '../selection/cell-id.ts'
import { HEAD_ROW } from '../selection/cell-range.ts'
import { isSortable, type ColumnHeadProps } from './column-head-props.ts'
import type { Column } from '../layout/column-layout.ts'
import { ColumnStates } from './column-states.tsx'
import { ColumnMenu } from './column-menu.tsx'
import { TIME_ZONE } from '../../values/format-value.ts'
import { TypeIcon } from '../../values/type-icon.tsx'

/** A column head: the name, which selects the column; the sort button; the menu; the summary; and the edge, which resizes. */
export function ColumnHead(props: ColumnHeadProps) {
  const { host, columns, column, filter, isReady, sortTerm, isLocked, isMenuOpen, onFit, drag, isPast } =
    props
  const { field, index, width } = column
  return (
    <div
      role="columnheader"
      id={cellId({ row: HEAD_ROW, column: index })}
      aria-label={field.title}
      aria-colindex={index + 2}
      aria-sort={sortTerm === null ? 'none' : sortTerm.descending ? 'descending' : 'ascending'}
      className={classOf(props)}
      style={{ width }}
      title={tooltipOf(props)}
    >
      <div className="column-head-top">
        <button
          type="button"
          tabIndex={-1}
          className="column-name"
          onPointerDown={(event) => drag.beginMove(event, column)}
          onClick={(event) => {
            if (!drag.wasDrag()) host.current.model.selecting.goToColumn(index, event.shiftKey)
          }}
        >
          <TypeIcon field={field} />
          <span className="column-title">{field.title}</span>
          {field.type === 'timestamp' && <span className="column-zone">{zoneOf(column)}</span>}
          {field.derived !== null && <Sparkles className="column-derived" size={12} aria-label="derived" />}
          {isLocked && field.derived === null && !field.primaryKey && (
            <Lock className="column-lock" size={11} aria-label="read-only for you" />
          )}
        </button>
        {isSortable(field) && <SortButton {...props} />}
        {isMenuOpen ? (
          <ColumnMenu {...props}>
            <MenuButton title={field.title} />
          </ColumnMenu>
        ) : (
          <MenuButton title={field.title} onClick={() => host.current.openMenu(field.name)} />
        )}
      </div>
      {field.derived !== null && !isPast && <ColumnStates name={field.name} />}
      {columns.showsSummaries && !isPast && (
        <div className="column-summary-place">
          <ColumnSummary
            field={field}
            filter={filter}
            visible={isReady}
            onFilter={(condition: Condition) => {
              const { change, view } = host.current.model
              change({ conditions: withCondition(view.conditions, condition) })
            }}
          />
        </div>
      )}
      <div
        role="none"
        className="column-edge"
        onPointerDown={(event) => drag.beginResize(event, column)}
        onDoubleClick={onFit}
      />
    </div>
  )
}

/** Mounts the menu only when it is opened: there are many heads. */
function MenuButton({ title, ...rest }: ComponentProps<'button'> & { readonly title: string }) {
  return (
    <button
      type="button"
      tabIndex={-1}
      className="column-menu-button"
      aria-haspopup="menu"
      aria-label={`Menu of ${title}`}
      {...rest}
    >
      <EllipsisVertical size={14} />
    </button>
  )
}

/** Sorts by the column; shows the present order. */
function SortButton({ host, column: { field, index }, sortTerm, sortPlace }: ColumnHeadProps) {
  const Arrow = sortTerm === null ? ArrowDownUp : sortTerm.descending ? ArrowDown : ArrowUp
  return (
    <button
      type="button"
      tabIndex={-1}
      className={sortTerm === null ? 'column-sort' : 'column-sort on'}
      aria-label={`Sort by ${field.title}`}
      title="Sort (Shift adds to the sort order)"
      onClick={(event) => host.current.sortBy(index, event.shiftKey)}
    >
      <Arrow size={13} strokeWidth={sortTerm === null ? 2 : 2.5} />
      {sortPlace !== null && sortPlace > 0 && sortPlace}
    </button>
  )
}

function classOf({ column: { field }, isActive, drag }: ColumnHeadProps): string {
  const names = ['grid-head-cell']
  if (field.derived !== null) names.push('derived')
  if (isActive) names.push('active')
  if (drag.name === field.name) names.push('dragged')
  return names.join(' ')
}

function zoneOf({ format }: Column): string {
  return format.utc === true ? 'UTC' : TIME_ZONE
}

function tooltipOf({ column, isLocked }: ColumnHeadProps): string {
  const { field } = column
  const lines = [`${field.name} · ${field.type}${field.required ? ' · required' : ''}`]
  if (field.description !== null) lines.push(field.description)
  if (field.type === 'timestamp') lines.push(`Times are shown in ${zoneOf(column)}`)
  if (field.derived !== null)
    lines.push(`Computed by ${field.derived.derivation} from ${field.derived.inputs.join(', ')}`)
  else if (isLocked && !field.primaryKey) lines.push('The contract does not allow you to edit this field.')
  return lines.join('\n')
}

import { Plus } from 'lucide-react'
import { memo } from 'react'
import type { SheetField } from '../../api/contract.ts'
import type { RecordFilter } from '../../api/record-filter.ts'
import type { Ghost } from '../../columns/ghost.ts'
import { IconButton } from '../../ui/button.tsx'
import { ColumnHead } from './column-head.tsx'
import type { HeadHost } from './column-head-props.ts'
import { drawsGhost, type Column } from '../layout/column-layout.ts'
import { fittingWidth } from './fitting-width.ts'
import { GhostHeads } from './ghost-cells.tsx'
import './grid-head.css'
import { parseSort } from '../../state/sort-order.ts'
import { ADD_WIDTH, type Columns } from '../layout/use-columns.ts'
import { useHeadDrag } from './use-head-drag.ts'

interface GridHeadProps {
  readonly host: HeadHost
  readonly columns: Columns
  /** The rendered range of the scrolling columns. */
  readonly firstColumn: number
  readonly endColumn: number
  readonly sort: string | null
  readonly filter: RecordFilter | null
  /** Whether the records are loaded, so that summaries may be requested. */
  readonly isReady: boolean
  /** Whether the grid shows an earlier state. */
  readonly isPast: boolean
  readonly mayWrite: (field: SheetField) => boolean
  readonly checkedState: 'none' | 'some' | 'all'
  /** The column whose head has the focus; -1 for none. */
  readonly activeColumn: number
  /** The column with an open menu. */
  readonly openMenu: string | null
  /** The columns that do not exist yet. */
  readonly ghost: Ghost | null
  /** Whether columns may be added. */
  readonly mayAdd: boolean
}

/** The row of column heads. It does not render on vertical scrolling. */
export const GridHead = memo(function GridHead(props: GridHeadProps) {
  const { host, columns, firstColumn, endColumn, sort, filter, isReady, mayWrite, activeColumn, openMenu } =
    props
  const { ghost, mayAdd, isPast } = props
  const { layout, gutter, headHeight } = columns
  const drag = useHeadDrag(host)
  const others = layout.others.slice(firstColumn, endColumn)
  const showsGhost = ghost !== null && drawsGhost(layout, firstColumn, endColumn)
  const ghostAt = showsGhost && layout.ghost !== null ? layout.ghost.index - firstColumn : others.length
  const terms = parseSort(sort)
  const head = (column: Column) => {
    const { field, index } = column
    const place = terms.findIndex((term) => term.field === field.name)
    return (
      <ColumnHead
        key={field.name}
        host={host}
        columns={columns}
        column={column}
        filter={filter}
        isReady={isReady}
        isPast={isPast}
        sortTerm={terms[place] ?? null}
        sortPlace={terms.length > 1 ? place + 1 : null}
        isActive={index === activeColumn}
        isLocked={!isPast && !mayWrite(field)}
        isMenuOpen={openMenu === field.name}
        onFit={() => {
          const { rows, scroller } = host.current.model
          columns.resize(field.name, fittingWidth(column, rows, scroller.view.rows))
        }}
        drag={drag}
      />
    )
  }
  return (
    <div role="rowgroup" className="grid-head" style={{ height: headHeight }}>
      <div role="row" aria-rowindex={1} className="grid-head-row">
        <div role="columnheader" aria-colindex={1} className="grid-gutter" style={{ width: gutter }}>
          <CheckAll {...props} />
        </div>
        {layout.pinned.map(head)}
        <div role="none" className="grid-others">
          <div role="none" className="grid-strip">
            {others.slice(0, ghostAt).map(head)}
            {showsGhost && <GhostHeads ghost={ghost} />}
            {others.slice(ghostAt).map(head)}
          </div>
        </div>
        {mayAdd && (
          <div
            role="columnheader"
            aria-label="Add a column"
            className="column-add"
            // At the right edge where the columns are wider than the grid.
            style={{ left: `min(${layout.end}px, 100% - ${ADD_WIDTH}px)`, width: ADD_WIDTH }}
          >
            <IconButton
              label="Add a column"
              tabIndex={-1}
              onClick={() => host.current.model.drawer.add(null)}
            >
              <Plus size={16} />
            </IconButton>
          </div>
        )}
      </div>
      {drag.mark !== null && <div role="none" className="grid-drop-mark" style={{ left: drag.mark }} />}
    </div>
  )
})

function CheckAll({ checkedState, host, isPast }: GridHeadProps) {
  return (
    <input
      type="checkbox"
      tabIndex={-1}
      disabled={isPast}
      checked={checkedState === 'all'}
      ref={(box) => {
        if (box !== null) box.indeterminate = checkedState === 'some'
      }}
      onChange={() => {
        const { checked } = host.current.model
        if (checkedState === 'none') checked.all()
        else checked.none()
      }}
      aria-label={checkedState === 'none' ? 'Select all records' : 'Clear selection'}
    />
  )
}

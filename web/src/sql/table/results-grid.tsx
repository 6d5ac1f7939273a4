import { useVirtualizer, type VirtualItem } from '@tanstack/react-virtual'
import { useMemo } from 'react'
import { useSize } from '../../ui/use-size.ts'
import { CellValueView } from '../../values/cell-value-view.tsx'
import { columnWidths, measureIn } from './column-width.ts'
import { isNumeric, type ResultColumn, type ResultRow } from './result-columns.ts'
import './results-grid.css'

const ROW_HEIGHT = 32
/** The width that is left for a scroll bar. */
const SCROLL_BAR = 16

interface ResultsGridProps {
  readonly columns: readonly ResultColumn[]
  readonly rows: readonly ResultRow[]
}

/** The rows of a result; only visible ones are rendered. */
export function ResultsGrid({ columns, rows }: ResultsGridProps) {
  const [scroller, { width: room }] = useSize<HTMLDivElement>()
  const widths = useMemo(
    () => columnWidths(columns, rows, { room: room - SCROLL_BAR, measure: measureIn(document.body) }),
    [columns, rows, room],
  )
  const rowItems = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  })
  const columnItems = useVirtualizer({
    horizontal: true,
    count: columns.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => widths[index] ?? 0,
    // By position and width, because another result has other columns.
    getItemKey: (index) => `${index} ${widths[index]}`,
    overscan: 2,
  })
  const shown = columnItems.getVirtualItems()
  return (
    <div
      ref={scroller}
      className={rows.length === 0 ? 'results-grid empty' : 'results-grid'}
      role="table"
      aria-label="Result"
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
      tabIndex={0}
    >
      <div role="rowgroup" className="results-head" style={{ width: columnItems.getTotalSize() }}>
        <div role="row" aria-rowindex={1} className="results-row">
          {shown.map((item) => {
            const column = columns[item.index]
            return column && <Head key={item.key} column={column} item={item} />
          })}
        </div>
      </div>
      <div
        role="rowgroup"
        className="results-body"
        style={{ height: rowItems.getTotalSize(), width: columnItems.getTotalSize() }}
      >
        {rowItems.getVirtualItems().map(({ key, index, start }) => (
          <div
            key={key}
            role="row"
            aria-rowindex={index + 2}
            className="results-row"
            style={{ transform: `translateY(${start}px)` }}
          >
            {shown.map((item) => {
              const column = columns[item.index]
              return (
                column && (
                  <Cell key={item.key} column={column} item={item} value={rows[index]?.[column.name]} />
                )
              )
            })}
          </div>
        ))}
      </div>
    </div>
  )
}

function place({ start, size }: VirtualItem): { readonly left: number; readonly width: number } {
  return { left: start, width: size }
}

function Head({ column, item }: { readonly column: ResultColumn; readonly item: VirtualItem }) {
  const { name, type, field } = column
  const title = [field !== null && field.title !== name ? field.title : name, type].filter(
    (each) => each !== null,
  )
  return (
    <div
      role="columnheader"
      aria-colindex={item.index + 1}
      className={isNumeric(column) ? 'results-cell right' : 'results-cell'}
      style={place(item)}
      title={title.join(' · ')}
    >
      {name}
    </div>
  )
}

interface CellProps {
  readonly column: ResultColumn
  readonly item: VirtualItem
  readonly value: unknown
}

function Cell({ column, item, value }: CellProps) {
  return (
    <div
      role="cell"
      aria-colindex={item.index + 1}
      className={isNumeric(column) ? 'results-cell right' : 'results-cell'}
      style={place(item)}
      title={typeof value === 'string' && value.length > 20 ? value.slice(0, 1000) : undefined}
    >
      <CellValueView type={column.type} value={value} />
    </div>
  )
}

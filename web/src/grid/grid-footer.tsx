import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { formatCount } from '../ui/format.ts'
import { formatValue } from '../values/format-value.ts'
import { fieldsOf, loadedRange, shownValue } from './interaction/cell-actions.ts'
import type { GridModel } from './interaction/use-grid.ts'
import { MAX_ROWS_AT_ONCE, readRange } from './rows/read-range.ts'
import { figuresOf, roundedAverage } from './selection/cell-figures.ts'
import { HEAD_ROW, rangeOf, sizeOf, type CellRange } from './selection/cell-range.ts'
import './grid-footer.css'

interface GridFooterProps {
  readonly model: GridModel
  /** Null in the past. */
  readonly onAdd: (() => void) | null
}

/** The row below the records: it adds a record, and shows figures of the selected cells. */
export function GridFooter({ model, onAdd }: GridFooterProps) {
  return (
    <div className="grid-footer">
      {onAdd !== null && (
        <button type="button" className="grid-add" title="New record (Shift+Enter)" onClick={onAdd}>
          <Plus size={14} aria-hidden="true" />
          New record
        </button>
      )}
      <SelectionFigures model={model} />
    </div>
  )
}

/** The count, the sum and the average of the selected cells, if there are several. */
function SelectionFigures({ model }: { readonly model: GridModel }) {
  const { selection } = model.selecting
  const range = selection === null || selection.focus.row === HEAD_ROW ? null : rangeOf(selection)
  if (range === null || sizeOf(range) === 1) return null
  return (
    <div className="selection-figures" role="group" aria-label="Selected cells">
      <span>
        {formatCount(sizeOf(range))} cells
        <span className="selection-size">
          {' '}
          ({formatCount(range.bottom - range.top + 1)} × {formatCount(range.right - range.left + 1)})
        </span>
      </span>
      {range.bottom - range.top >= MAX_ROWS_AT_ONCE ? (
        <span>No sum of more than {formatCount(MAX_ROWS_AT_ONCE)} rows</span>
      ) : (
        <Figures model={model} range={range} />
      )}
    </div>
  )
}

function Figures({ model, range }: { readonly model: GridModel; readonly range: CellRange }) {
  const { context, rows } = model
  const { top, bottom } = range
  const loaded = loadedRange(rows, range)
  const { data } = useQuery({
    queryKey: ['records', 'range', rows.selection, top, bottom],
    queryFn: ({ client }) => readRange(client, rows.selection, top, bottom),
    enabled: loaded === null,
  })
  const records = loaded ?? data
  if (records === undefined) return <span aria-busy="true">…</span>
  const fields = fieldsOf(context.layout, range)
  const { filled, numbers, sum } = figuresOf(
    records.flatMap((record) => fields.map((field) => shownValue(context, record, field))),
  )
  return (
    <>
      <Figure name="Filled" value={filled} />
      {numbers > 0 && (
        <>
          <Figure name="Sum" value={sum} />
          <Figure name="Average" value={roundedAverage(sum / numbers)} />
        </>
      )}
    </>
  )
}

function Figure({ name, value }: { readonly name: string; readonly value: number }) {
  return (
    <span>
      {name} <strong>{formatValue('number', value)}</strong>
    </span>
  )
}

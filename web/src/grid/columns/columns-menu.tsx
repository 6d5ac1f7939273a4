import { Columns3, Plus } from 'lucide-react'
import { Popover } from 'radix-ui'
import { useState } from 'react'
import type { SheetField } from '../../api/contract.ts'
import { ROW_HEIGHTS } from '../../state/columns.ts'
import { Button } from '../../ui/button.tsx'
import '../../ui/popover.css'
import { TypeIcon } from '../../values/type-icon.tsx'
import type { Columns } from '../layout/use-columns.ts'

/** The number of columns from which the menu has a search field. */
const SEARCHED_FROM = 12

interface ColumnsMenuProps {
  readonly columns: Columns
  /** Begins a new column; null where the service refuses it. */
  readonly onAdd: (() => void) | null
}

/** The menu of shown and hidden columns. */
export function ColumnsMenu({ columns, onAdd }: ColumnsMenuProps) {
  const [text, setText] = useState('')
  const shown = columns.layout.columns.map(({ field }) => field)
  const all = [...shown, ...columns.hidden]
  const found = all.filter(({ name, title }) =>
    `${name} ${title}`.toLowerCase().includes(text.trim().toLowerCase()),
  )
  const count = columns.hidden.length
  return (
    <Popover.Root onOpenChange={() => setText('')}>
      <Popover.Trigger asChild>
        <Button
          look="quiet"
          icon={<Columns3 size={15} />}
          aria-label={count === 0 ? 'Columns' : `Columns, ${count} hidden`}
        >
          <span className="grid-button-text">Columns</span>
          {count > 0 && <span className="grid-badge">{count} hidden</span>}
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          className="popover columns-popover"
          align="end"
          sideOffset={6}
          collisionPadding={8}
          aria-label="Columns"
        >
          {all.length >= SEARCHED_FROM && (
            <input
              className="input"
              type="search"
              placeholder="Find a column"
              aria-label="Find a column"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
          <div className="columns-list">
            {found.map((field) => (
              <ColumnBox key={field.name} field={field} columns={columns} isOnly={shown.length === 1} />
            ))}
          </div>
          <div className="columns-actions">
            <Button
              disabled={count === 0}
              onClick={() => columns.show(columns.hidden.map(({ name }) => name))}
            >
              Show all
            </Button>
            <Button look="quiet" onClick={columns.reset}>
              Reset columns
            </Button>
          </div>
          {onAdd !== null && (
            <Popover.Close asChild>
              <Button icon={<Plus size={15} />} onClick={onAdd}>
                Add a column…
              </Button>
            </Popover.Close>
          )}
          <RowHeights columns={columns} />
          <label className="columns-summaries">
            <input
              type="checkbox"
              checked={columns.showsSummaries}
              onChange={(event) => columns.showSummaries(event.target.checked)}
            />
            Show summaries
          </label>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

function RowHeights({ columns }: { readonly columns: Columns }) {
  return (
    <fieldset className="columns-heights">
      <legend>Row height</legend>
      {ROW_HEIGHTS.map(({ name, pixels }) => (
        <label key={name}>
          <input
            type="radio"
            name="row-height"
            checked={columns.rowHeight === pixels}
            onChange={() => columns.setRowHeight(pixels)}
          />
          {name}
        </label>
      ))}
    </fieldset>
  )
}

interface ColumnBoxProps {
  readonly field: SheetField
  readonly columns: Columns
  /** The last visible column cannot be hidden. */
  readonly isOnly: boolean
}

function ColumnBox({ field, columns, isOnly }: ColumnBoxProps) {
  const isShown = !columns.hidden.includes(field)
  return (
    <label>
      <input
        type="checkbox"
        checked={isShown}
        disabled={isShown && isOnly}
        onChange={() => (isShown ? columns.hide(field.name) : columns.show([field.name]))}
      />
      <TypeIcon field={field} />
      <span>{field.title}</span>
    </label>
  )
}

import { X } from 'lucide-react'
import { useEffect, useMemo, useRef, useState, type RefObject } from 'react'
import type { SheetContract } from '../api/contract.ts'
import type { RecordFilter } from '../api/record-filter.ts'
import { useCommands } from '../ui/command-menu.tsx'
import type { Condition } from '../state/conditions.ts'
import { filterOf, pastListOf, type ViewChange, type ViewState } from '../state/view-state.ts'
import { Button } from '../ui/button.tsx'
import { AddFilter } from './add-filter.tsx'
import { anyColumn } from './any-column.ts'
import { ConditionChip } from './condition-chip.tsx'
import './filter-bar.css'
import { MatchCount } from './match-count.tsx'
import { SqlChip } from './sql-chip.tsx'
import { SqlFilterEditor } from './sql-filter-editor.tsx'
import { useSlashKey } from './use-slash-key.ts'

interface FilterBarProps {
  readonly contract: SheetContract
  readonly view: ViewState
  readonly change: (change: ViewChange) => void
}

/** The open part: a chip by index, the menu that adds one, or the SQL editor. */
type Open = number | 'add' | 'sql' | null

/** The bar with a chip for each condition, the SQL filter and the number of matching records. */
export function FilterBar({ contract, view, change }: FilterBarProps) {
  const [open, setOpen] = useState<Open>(null)
  const line = useRef<HTMLDivElement>(null)
  const sqlButton = useRef<HTMLButtonElement>(null)
  const { conditions, asOf } = view
  // Earlier states are not filtered by SQL.
  const sql = asOf === null ? view.sql : null
  const isSql = open === 'sql' && asOf === null
  const hasFilter = conditions.length > 0 || sql !== null
  const focusChip = useFocusAfterRemoval(line, conditions.length + (sql === null ? 0 : 1))
  useSlashKey(() => setOpen('add'))
  useFilterCommands(hasFilter, setOpen, change, asOf === null)

  const replace = (index: number, condition: Condition): void =>
    change({ conditions: conditions.with(index, condition) })
  const remove = (index: number): void => {
    focusChip(index)
    setOpen(null)
    change({ conditions: conditions.toSpliced(index, 1) })
  }
  const without = (index: number): RecordFilter | null =>
    filterOf({ conditions: conditions.toSpliced(index, 1), sql })
  return (
    <div className="filter-bar" role="group" aria-label="Filter">
      <div className="filter-line" ref={line}>
        {!isSql && hasFilter && (
          <div className="filter-chips">
            {conditions.map((condition, index) => (
              <ConditionChip
                // Conditions have no keys and may be equal.
                // oxlint-disable-next-line react/no-array-index-key
                key={`${index} ${condition.field}`}
                condition={condition}
                field={contract.fieldByName.get(condition.field) ?? null}
                anyColumn={anyColumn(contract)}
                otherFilter={without(index)}
                isOpen={open === index}
                onOpen={(isOpen) => setOpen(isOpen ? index : null)}
                onChange={(changed) => replace(index, changed)}
                onRemove={() => remove(index)}
              />
            ))}
            {sql !== null && (
              <SqlChip
                sql={sql}
                onOpen={() => setOpen('sql')}
                onRemove={() => {
                  focusChip(conditions.length)
                  change({ sql: null })
                }}
              />
            )}
          </div>
        )}
        <div className="filter-end">
          {!isSql && (
            <AddFilter
              contract={contract}
              filter={filterOf(view)}
              hasOthers={hasFilter}
              isOpen={open === 'add'}
              onOpen={(isOpen) => setOpen(isOpen ? 'add' : null)}
              onAdd={(condition) => change({ conditions: [...conditions, condition] })}
            />
          )}
          {asOf === null && (
            <button
              ref={sqlButton}
              type="button"
              className="button quiet filter-sql-button"
              aria-label="Filter by SQL"
              title="Filter by SQL"
              aria-expanded={isSql}
              onClick={() => setOpen(isSql ? null : 'sql')}
            >
              {hasFilter ? 'SQL' : 'Filter by SQL'}
            </button>
          )}
          {hasFilter && (
            <Button
              look="quiet"
              className="filter-clear"
              icon={<X size={14} />}
              title="Clear the filter"
              aria-label="Clear the filter"
              onClick={() => {
                setOpen(null)
                change({ conditions: [], sql: null })
              }}
            >
              <span className="filter-clear-text">Clear</span>
            </Button>
          )}
          <MatchCount
            filter={filterOf(asOf === null ? view : pastListOf(view))}
            asOf={asOf}
            sort={view.sort}
          />
        </div>
      </div>
      {isSql && (
        <SqlFilterEditor
          contract={contract}
          view={view}
          change={change}
          onClose={() => {
            setOpen(null)
            sqlButton.current?.focus()
          }}
        />
      )}
    </div>
  )
}

/** Focuses the chip after a removed one, or the button that adds one. */
function useFocusAfterRemoval(line: RefObject<HTMLElement | null>, count: number): (index: number) => void {
  const wanted = useRef<number | null>(null)
  useEffect(() => {
    if (wanted.current === null) return
    const found = line.current?.querySelectorAll<HTMLElement>('[data-chip]')
    const add = line.current?.querySelector<HTMLElement>('[data-add]')
    const chip = found?.[Math.min(wanted.current, found.length - 1)] ?? add
    wanted.current = null
    chip?.focus()
  }, [line, count])
  return (index) => {
    wanted.current = index
  }
}

function useFilterCommands(
  hasFilter: boolean,
  setOpen: (open: Open) => void,
  change: (change: ViewChange) => void,
  hasSql: boolean,
): void {
  const latestChange = useRef(change)
  useEffect(() => {
    latestChange.current = change
  })
  const commands = useMemo(() => {
    const group = 'Filter'
    const clear = {
      name: 'Clear the filter',
      group,
      run: () => latestChange.current({ conditions: [], sql: null }),
    }
    return [
      { name: 'Add a filter', group, run: () => setTimeout(() => setOpen('add')) },
      ...(hasSql ? [{ name: 'Filter by SQL', group, run: () => setTimeout(() => setOpen('sql')) }] : []),
      ...(hasFilter ? [clear] : []),
    ]
  }, [hasFilter, hasSql, setOpen])
  useCommands('filter', commands)
}

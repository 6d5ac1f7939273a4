import { useQuery } from '@tanstack/react-query'
import { Command } from 'cmdk'
import { useDeferredValue, useRef, useState } from 'react'
import { messageOf } from '../api/api-error.ts'
import type { SheetField } from '../api/contract.ts'
import { summaryQuery } from '../api/queries.ts'
import type { RecordFilter } from '../api/record-filter.ts'
import type { Scalar } from '../state/conditions.ts'
import { formatCount } from '../ui/format.ts'
import { scalarText } from './condition-text.ts'
import { typedItem } from './draft.ts'
import './filter-menu.css'
import { PickedItem } from './picked-item.tsx'
import { isComplete, joinOptions, valueOptions, type KnownValues } from './value-options.ts'
import { isScalarCount, valuesQuery } from './values-query.ts'

interface ValuePickerProps {
  readonly field: SheetField
  /** The filter of the counted records. */
  readonly filter: RecordFilter | null
  readonly picked: readonly (Scalar | null)[]
  readonly onPick: (picked: readonly (Scalar | null)[]) => void
}

/** Picks any number of values, from a list or by typing. */
export function ValuePicker({ field, filter, picked, onPick }: ValuePickerProps) {
  const [typed, setTyped] = useState('')
  const input = useRef<HTMLInputElement>(null)
  const [pickedAtFirst] = useState(picked)
  const { known, found, error, isWaiting } = useKnownValues(field, filter, useDeferredValue(typed.trim()))
  const options = joinOptions(
    valueOptions(field, known, pickedAtFirst, typed),
    typed.trim() === '' ? [] : found,
  )
  const other = typedItem(field, typed.trim())
  const isOffered = other !== null && options.some(({ value }) => String(value) === String(other))
  const toggle = (value: Scalar | null): void => {
    // The next input starts a new search.
    input.current?.select()
    onPick(picked.includes(value) ? picked.filter((each) => each !== value) : [...picked, value])
  }
  const unseen = (known.distinct ?? 0) - known.top.length
  return (
    <Command className="filter-menu value-picker" label="Values" shouldFilter={false}>
      <Command.Input
        ref={input}
        placeholder={unseen > 0 ? `Search ${formatCount(known.distinct ?? 0)} values` : 'Search values'}
        value={typed}
        onValueChange={setTyped}
        autoFocus
      />
      <Command.List>
        {options.map(({ value, count }) => (
          <PickedItem
            key={`${typeof value} ${String(value)}`}
            value={`${typeof value} ${String(value)}`}
            note={count === null ? null : formatCount(count)}
            text={scalarText(value, field)}
            isNone={value === null || value === ''}
            isPicked={picked.includes(value)}
            onToggle={() => toggle(value)}
          />
        ))}
        {other !== null && !isOffered && !isWaiting && field.values === null && (
          <PickedItem
            value={`${typeof other} ${String(other)}`}
            note={null}
            text={`“${String(other)}”`}
            isPicked={picked.includes(other)}
            onToggle={() => toggle(other)}
          />
        )}
        {typed === '' && unseen > 0 && <p className="filter-menu-hint">Type to search the other values.</p>}
        {options.length === 0 && (other === null || field.values !== null) && !isWaiting && (
          <p className="filter-menu-hint">No matching value</p>
        )}
        {error !== null && <p className="filter-menu-hint">Cannot list the values: {messageOf(error)}</p>}
      </Command.List>
    </Command>
  )
}

function useKnownValues(field: SheetField, filter: RecordFilter | null, wanted: string) {
  const summary = useQuery(summaryQuery(field.name, filter))
  const { nulls = 0, top = [], distinct = null } = summary.data ?? {}
  const known: KnownValues = { nulls, top: top.filter(isScalarCount), distinct }
  const isSearched =
    (field.type === 'string' || field.type === 'array') && field.values === null && !isComplete(known)
  const search = useQuery({
    ...valuesQuery(field, filter, wanted),
    enabled: isSearched && wanted !== '' && summary.isFetched,
  })
  return {
    known,
    found: (isSearched && search.data) || [],
    error: summary.error ?? (isSearched ? search.error : null),
    isWaiting: summary.isLoading || search.isLoading || search.isPlaceholderData,
  }
}

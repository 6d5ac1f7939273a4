import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState, type RefObject } from 'react'
import { messageOf } from '../api/api-error.ts'
import type { SheetField } from '../api/contract.ts'
import { useAsOf } from '../state/as-of.ts'
import { CellValueView } from '../values/cell-value-view.tsx'
import { StateMark, type CellStateName } from '../ui/cell-state.tsx'
import { latestEntryQuery } from './latest-entry-query.ts'
import { originLine } from './history/origin-sentence.ts'
import { SentenceView } from './history/sentence-view.tsx'

interface RecordRowProps {
  readonly recordId: string
  readonly field: SheetField
  readonly value: unknown
  /** The state of a derived cell, once loaded. */
  readonly state: CellStateName | null
  readonly isSelected: boolean
  readonly onSelect: () => void
}

/** A field of a record; its latest entry is loaded when the row is visible. */
export function RecordRow({ recordId, field, value, state, isSelected, onSelect }: RecordRowProps) {
  const row = useRef<HTMLLIElement>(null)
  const isNear = useHasBeenNear(row)
  const asOf = useAsOf()
  const { data: entry, error } = useQuery({
    ...latestEntryQuery(recordId, field.name, asOf),
    enabled: isNear,
  })
  return (
    <li ref={row}>
      <button
        type="button"
        className="record-field"
        aria-current={isSelected ? 'true' : undefined}
        onClick={onSelect}
      >
        <span className="record-field-title">
          <span className="record-field-name" title={field.title}>
            {field.title}
          </span>
          {state !== null && <StateMark state={state} />}
        </span>
        <span className="record-field-value">
          <CellValueView type={field.type} value={value} />
        </span>
        <span className="record-field-origin">
          {error !== null && messageOf(error)}
          {error === null && entry === null && (field.derived === null ? 'Never written' : 'Never computed')}
          {error === null && entry !== null && entry !== undefined && (
            <SentenceView
              sentence={originLine(entry, { derived: field.derived !== null, find: () => undefined })}
              links={false}
            />
          )}
        </span>
      </button>
    </li>
  )
}

/** Whether an element is or was near the viewport. */
function useHasBeenNear(element: RefObject<Element | null>): boolean {
  const [isNear, setIsNear] = useState(false)
  useEffect(() => {
    const { current } = element
    if (current === null || isNear) return
    const observer = new IntersectionObserver(
      (changes) => {
        if (changes.some(({ isIntersecting }) => isIntersecting)) setIsNear(true)
      },
      { rootMargin: '200px' },
    )
    observer.observe(current)
    return () => observer.disconnect()
  }, [element, isNear])
  return isNear
}

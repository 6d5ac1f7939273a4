import { ChevronDown, ChevronUp, X } from 'lucide-react'
import { useEffect, useRef, useState, type KeyboardEvent } from 'react'
import { messageOf } from '../api/api-error.ts'
import { IconButton } from '../ui/button.tsx'
import { countOf, formatCount } from '../ui/format.ts'
import './find-bar.css'
import { markMatches } from './mark-matches.ts'
import { useFind, type Find, type FindPlace } from './use-find.ts'

interface FindBarProps {
  readonly place: FindPlace
  /** The element with the cells; null while there is none. */
  readonly grid: HTMLElement | null
  /** Changes with each request to find something: the bar then gets the focus. */
  readonly asked: number
  readonly onClose: () => void
}

/** The bar that finds a text in the records of the list. */
export function FindBar({ place, grid, asked, onClose }: FindBarProps) {
  const [text, setText] = useState('')
  const find = useFind(text, place)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.select(), [asked])
  useEffect(() => (grid === null ? undefined : markMatches(grid, text)), [grid, text])
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onClose()
    else if (event.key === 'Enter' || event.key === 'F3') find.next(event.shiftKey)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const hasMatches = find.count !== 0 && text !== ''
  return (
    <search className="find-bar" aria-label="Find in the records" onKeyDown={onKeyDown}>
      <input
        ref={input}
        className="input"
        aria-label="Text to find"
        placeholder="Find in the records"
        value={text}
        onChange={(event) => setText(event.target.value)}
        spellCheck={false}
        autoComplete="off"
        autoFocus
      />
      <span className="find-count" role="status" aria-busy={find.isSearching}>
        {text === '' ? '' : statusOf(find)}
      </span>
      <IconButton label="Previous match (Shift+Enter)" disabled={!hasMatches} onClick={() => find.next(true)}>
        <ChevronUp size={16} />
      </IconButton>
      <IconButton label="Next match (Enter)" disabled={!hasMatches} onClick={() => find.next(false)}>
        <ChevronDown size={16} />
      </IconButton>
      <IconButton label="Close (Escape)" onClick={onClose}>
        <X size={16} />
      </IconButton>
    </search>
  )
}

function statusOf({ count, index, isSearching, error }: Find): string {
  if (error !== null) return messageOf(error)
  if (count === null) return isSearching ? 'Searching…' : 'Counting…'
  if (count === 0) return isSearching ? 'Searching…' : 'No matches'
  return index === null
    ? countOf(count, 'record')
    : `${formatCount(index + 1)} of ${countOf(count, 'record')}`
}

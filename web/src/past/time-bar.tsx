import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ChevronLeft, ChevronRight, History } from 'lucide-react'
import { useEffect, useRef, useState, type KeyboardEvent } from 'react'
import type { MomentAnswer } from '../../../src/wire/records/moment.ts'
import { momentQuery } from '../api/queries.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { countOf, formatCount } from '../ui/format.ts'
import { showError } from '../ui/toasts.tsx'
import { formatTimestamp } from '../values/format-value.ts'
import { localTime, throughSecond } from './local-time.ts'
import './past.css'

interface TimeBarProps {
  /** The moment of the URL. */
  readonly asOf: string
  /** The numbers of cells and records of the loaded rows that differ from now. */
  readonly changed: { readonly cells: number; readonly deleted: number }
  /** Shows another moment; null is now. */
  readonly onGo: (asOf: string | null) => void
}

/** The bar above an earlier state: which one it is, and the ways to others. */
export default function TimeBar({ asOf, changed, onGo }: TimeBarProps) {
  const { data: moment, isPlaceholderData } = useQuery(momentQuery(asOf))
  const differences = [
    changed.cells > 0 && `${countOf(changed.cells, 'cell differs', 'cells differ')} from now`,
    changed.deleted > 0 && `${countOf(changed.deleted, 'record')} deleted since`,
  ].filter((text) => typeof text === 'string')
  return (
    <section className="time-bar" aria-label="Earlier state">
      <div className="time-bar-text">
        <History size={16} aria-hidden="true" />
        <p role="status">
          <strong>{moment === undefined ? 'Earlier state' : titleOf(moment)}</strong>
          {moment !== undefined && ` · ${countOf(moment.total, 'record')}${writtenBy(moment)}`}
          {differences.length > 0 && (
            <span className="past-note"> · In loaded rows: {differences.join(', ')}</span>
          )}
        </p>
        <Button look="primary" onClick={() => onGo(null)}>
          Back to now
        </Button>
      </div>
      {moment !== undefined && <Moves moment={moment} isWaiting={isPlaceholderData} onGo={onGo} />}
    </section>
  )
}

function titleOf({ at, seq }: MomentAnswer): string {
  return at === null ? `Before the first entry (${seq})` : `As of ${formatTimestamp(at)}`
}

function writtenBy({ actor, source }: MomentAnswer): string {
  return actor === null || source === null ? '' : ` · after ${source} by ${actor}`
}

interface MovesProps {
  readonly moment: MomentAnswer
  /** Whether another moment is being loaded. */
  readonly isWaiting: boolean
  readonly onGo: TimeBarProps['onGo']
}

function Moves({ moment, isWaiting, onGo }: MovesProps) {
  const { seq, previous, next, at } = moment
  const step = (to: number | null): void => {
    if (to !== null && !isWaiting) onGo(String(to))
  }
  return (
    <div className="time-bar-move">
      <IconButton label="Previous change" disabled={previous === null} onClick={() => step(previous)}>
        <ChevronLeft size={16} />
      </IconButton>
      <Slider moment={moment} onStep={step} onGo={onGo} />
      <IconButton label="Next change" disabled={next === null} onClick={() => step(next)}>
        <ChevronRight size={16} />
      </IconButton>
      <TimeField key={`${seq} ${at}`} moment={moment} onGo={onGo} />
    </div>
  )
}

/** The time after which a dragged slider shows the state at its thumb. */
const REST_MS = 120

interface SliderProps {
  readonly moment: MomentAnswer
  readonly onStep: (to: number | null) => void
  readonly onGo: TimeBarProps['onGo']
}

/** A slider over the entries of the log. Arrow keys go from change to change. */
function Slider({ moment, onStep, onGo }: SliderProps) {
  const { seq, at, first, last, previous, next } = moment
  const [dragged, setDragged] = useState<number | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const [shown, setShown] = useState(seq)
  if (shown !== seq) {
    setShown(seq)
    setDragged(null)
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  const drag = (to: number): void => {
    setDragged(to)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      if (to === seq) setDragged(null)
      else onGo(String(to))
    }, REST_MS)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const isBack = event.key === 'ArrowLeft' || event.key === 'ArrowDown'
    if (!isBack && event.key !== 'ArrowRight' && event.key !== 'ArrowUp') return
    event.preventDefault()
    onStep(isBack ? previous : next)
  }
  const entry = `entry ${formatCount(dragged ?? seq)} of ${formatCount(last)}`
  return (
    <input
      type="range"
      aria-label="Moment"
      aria-valuetext={dragged === null && at !== null ? `${formatTimestamp(at)}, ${entry}` : entry}
      title={`${entry}. Arrow keys go from change to change.`}
      min={first}
      max={last}
      value={dragged ?? seq}
      onChange={(event) => drag(event.target.valueAsNumber)}
      onKeyDown={onKeyDown}
    />
  )
}

/** A field for a date and a time of the day, in local time. */
function TimeField({ moment, onGo }: { readonly moment: MomentAnswer; readonly onGo: TimeBarProps['onGo'] }) {
  const client = useQueryClient()
  const shown = moment.at === null ? '' : localTime(moment.at)
  const [text, setText] = useState(shown)
  const go = (): void => {
    const time = throughSecond(text)
    if (text === shown || time === null) return
    if (moment.last_at !== null && time >= moment.last_at) return onGo(String(moment.last))
    const find = async (): Promise<void> => {
      const { seq } = await client.fetchQuery(momentQuery(time))
      if (seq === moment.seq) setText(shown)
      else onGo(String(seq))
    }
    find().catch(showError)
  }
  return (
    <input
      type="datetime-local"
      className="input"
      aria-label="Date and time"
      step={1}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') go()
      }}
      onBlur={go}
    />
  )
}

import { Check, ChevronLeft, ChevronRight, Flag, Pencil, RotateCw, X } from 'lucide-react'
import { useEffect, useRef, useState, type KeyboardEvent } from 'react'
import { messageOf } from '../api/api-error.ts'
import type { SheetContract } from '../api/contract.ts'
import type { CellRef, ViewChange, ViewState } from '../state/view-state.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { formatCount } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { CorrectForm } from './correct-form.tsx'
import { FailureGroups } from './failure-groups.tsx'
import { FlagForm } from './flag-form.tsx'
import { ReviewedCell } from './reviewed-cell.tsx'
import './review-mode.css'
import { useReviewActions } from './use-review-actions.ts'
import { useReviewQueue } from './use-review-queue.ts'

interface ReviewModeProps {
  readonly contract: SheetContract
  readonly view: ViewState
  readonly change: (change: ViewChange) => void
  /** Called with the last cell; null if there was none. */
  readonly onClose: (cell: CellRef | null) => void
}

type Open = 'correct' | 'flag' | null

/** Reviews the cells of a filter one by one: the value large, its inputs beside it, and what can be done, by key. */
export default function ReviewMode({ contract, view, change, onClose }: ReviewModeProps) {
  const queue = useReviewQueue(contract, view)
  const [place, setPlace] = useState(-1)
  const [open, setOpen] = useState<Open>(null)
  const section = useRef<HTMLElement>(null)
  const { cells } = queue
  const selected = cells.findIndex(
    ({ recordId, field }) => recordId === view.cell?.recordId && field === view.cell.field,
  )
  const at = Math.min(place < 0 ? Math.max(0, selected) : place, cells.length - 1)
  const cell = cells[at] ?? null
  const actions = useReviewActions(contract, cell)

  const go = (by: 1 | -1): void => {
    setOpen(null)
    if (by > 0 && at === cells.length - 1 && queue.hasMore && !queue.isReading) queue.readMore()
    setPlace(Math.max(0, Math.min(cells.length - 1, at + by)))
    section.current?.focus()
  }
  const { hasMore, isReading, error, readMore } = queue
  useEffect(() => {
    // A page may have no cell to review, and the next cell should be there.
    if (hasMore && !isReading && error === null && at >= cells.length - 1) readMore()
  })
  useEffect(() => section.current?.focus(), [])

  const decide = async (verdict: 'approved' | 'flagged', note?: string): Promise<void> => {
    if (await actions.review(verdict, note)) go(1)
  }
  const keys: Readonly<Record<string, (() => void) | undefined>> = {
    j: () => go(1),
    arrowright: () => go(1),
    k: () => go(-1),
    arrowleft: () => go(-1),
    a: () => void decide('approved'),
    f: () => setOpen('flag'),
    e: actions.mayCorrect ? () => setOpen('correct') : undefined,
    r: actions.mayRetry ? actions.retry : undefined,
    escape: () => onClose(cell),
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select')
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping || open !== null) return
    const act = keys[event.key.toLowerCase()]
    if (act === undefined || (cell === null && event.key !== 'Escape')) return
    event.preventDefault()
    event.stopPropagation()
    act()
  }
  return (
    <section
      ref={section}
      className="review-mode"
      aria-labelledby="review-title"
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      <header className="review-head">
        <h2 id="review-title">Review</h2>
        {cell !== null && (
          <p role="status">
            {formatCount(at + 1)} of {formatCount(cells.length)}
            {queue.hasMore ? '+' : ''} {cells.length === 1 ? 'cell' : 'cells'}
          </p>
        )}
        <IconButton label="Close the review (Escape)" onClick={() => onClose(cell)}>
          <X size={16} />
        </IconButton>
      </header>
      {cell === null ? (
        <EmptyQueue error={error} isReading={isReading || hasMore} onRetry={readMore} />
      ) : (
        <>
          <div className="review-body">
            <FailureGroups contract={contract} view={view} change={change} />
            <ReviewedCell
              key={`${cell.recordId} ${cell.field}`}
              contract={contract}
              cell={cell}
              onSelect={onClose}
            />
            {open === 'correct' && actions.field !== null && (
              <CorrectForm
                field={actions.field}
                value={actions.value}
                onCancel={() => setOpen(null)}
                onSave={(value) => {
                  setOpen(null)
                  actions.correct(value)
                  section.current?.focus()
                }}
              />
            )}
            {open === 'flag' && (
              <FlagForm onCancel={() => setOpen(null)} onFlag={(note) => void decide('flagged', note)} />
            )}
          </div>
          <footer className="review-actions" role="group" aria-label="Review this cell">
            <Button icon={<ChevronLeft size={15} />} disabled={at === 0} onClick={() => go(-1)}>
              Previous <kbd>K</kbd>
            </Button>
            <Button look="primary" icon={<Check size={15} />} onClick={() => void decide('approved')}>
              Approve <kbd>A</kbd>
            </Button>
            <Button icon={<Flag size={15} />} onClick={() => setOpen('flag')}>
              Flag… <kbd>F</kbd>
            </Button>
            <Button
              icon={<Pencil size={15} />}
              disabled={!actions.mayCorrect}
              title={actions.mayCorrect ? undefined : 'The contract does not allow you to write this field'}
              onClick={() => setOpen('correct')}
            >
              Correct… <kbd>E</kbd>
            </Button>
            <Button icon={<RotateCw size={15} />} disabled={!actions.mayRetry} onClick={actions.retry}>
              {cell.state === 'failed' ? 'Retry' : 'Recompute…'} <kbd>R</kbd>
            </Button>
            <Button
              icon={<ChevronRight size={15} />}
              disabled={at === cells.length - 1 && !queue.hasMore}
              onClick={() => go(1)}
            >
              Next <kbd>J</kbd>
            </Button>
          </footer>
        </>
      )}
    </section>
  )
}

interface EmptyQueueProps {
  readonly error: Error | null
  readonly isReading: boolean
  readonly onRetry: () => void
}

function EmptyQueue({ error, isReading, onRetry }: EmptyQueueProps) {
  if (error !== null) {
    return (
      <Notice title="The cells cannot be read">
        <p>{messageOf(error)}</p>
        <Button onClick={onRetry}>Try again</Button>
      </Notice>
    )
  }
  if (isReading) return <p className="review-reading">Reading the cells…</p>
  return <Notice title="Nothing to review">No cell of the filtered records is in the selected states.</Notice>
}

import { useQuery } from '@tanstack/react-query'
import { Check, Flag } from 'lucide-react'
import type { CellReviewAnswer } from '../../../src/wire/records/reviews.ts'
import { cellReviewsQuery } from '../api/queries.ts'
import type { SheetContract } from '../api/contract.ts'
import { FullValue } from '../provenance/diff/full-value.tsx'
import { StateExplanation } from '../provenance/explanation/state-explanation.tsx'
import { PanelError, PanelLoading } from '../provenance/panel-notes.tsx'
import { useCellData } from '../provenance/use-cell-data.ts'
import type { CellRef } from '../state/view-state.ts'
import { StateMark, STATE_LABELS, type CellStateName } from '../ui/cell-state.tsx'
import { Moment } from '../ui/moment.tsx'
import { Notice } from '../ui/notice.tsx'
import { nameField } from '../values/name-field.ts'
import type { QueuedCell } from './review-queue.ts'

interface ReviewedCellProps {
  readonly contract: SheetContract
  readonly cell: QueuedCell
  /** Leaves the review for another cell. */
  readonly onSelect: (cell: CellRef) => void
}

/** The cell under review with its value, its state and its review, and its inputs beside it. */
export function ReviewedCell({ contract, cell, onSelect }: ReviewedCellProps) {
  const { record, why, isGone } = useCellData(contract, cell)
  const { data: reviews } = useQuery(cellReviewsQuery(cell))
  const field = contract.fieldByName.get(cell.field)
  if (field === undefined)
    return <Notice title="Field not found">The contract has no field {cell.field}.</Notice>
  if (isGone) return <Notice title="Record deleted">Record {cell.recordId} was deleted meanwhile.</Notice>
  if (record.error !== null && record.data === undefined)
    return <PanelError error={record.error} onRetry={() => void record.refetch()} />
  if (record.data === undefined) return <PanelLoading />
  const named = nameField(contract.fields)
  const name = named === null ? null : record.data[named.name]
  const state = why.data?.state as CellStateName | undefined
  const inputs = (field.derived?.inputs ?? []).flatMap((input) => contract.fieldByName.get(input) ?? [])
  const review = reviews?.find(({ active }) => active)
  return (
    <div className="review-cell">
      <article className="review-value" aria-label="Value">
        <p className="review-record">
          <code>{cell.recordId}</code> {typeof name === 'string' ? name : null}
        </p>
        <h3 title={field.description ?? undefined}>
          {field.title}
          {state !== undefined && (
            <span className="review-state" title={STATE_LABELS[state]}>
              <StateMark state={state} /> {state}
            </span>
          )}
        </h3>
        <div className="review-large">
          <FullValue type={field.type} value={record.data[field.name]} />
        </div>
        {review !== undefined && <ReviewNote review={review} />}
        {why.data !== undefined && (
          <StateExplanation contract={contract} cell={cell} explanation={why.data} onSelect={onSelect} />
        )}
      </article>
      {inputs.length > 0 && (
        <aside className="review-inputs" aria-label="Inputs">
          <h3>Computed from</h3>
          <dl>
            {inputs.map((input) => (
              <div key={input.name}>
                <dt>{input.title}</dt>
                <dd>
                  <FullValue type={input.type} value={record.data[input.name]} />
                </dd>
              </div>
            ))}
          </dl>
        </aside>
      )}
    </div>
  )
}

function ReviewNote({ review: { verdict, actor, at, note } }: { readonly review: CellReviewAnswer }) {
  const isApproved = verdict === 'approved'
  return (
    <p className={`review-note-shown ${verdict}`}>
      {isApproved ? <Check size={14} aria-hidden="true" /> : <Flag size={14} aria-hidden="true" />}
      <span>
        {isApproved ? 'Approved' : 'Flagged'} by {actor}, <Moment at={at} />
        {note !== null && <>: {note}</>}
      </span>
    </p>
  )
}

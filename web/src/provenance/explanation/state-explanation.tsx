import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Play, RotateCw } from 'lucide-react'
import { Fragment } from 'react'
import type { CellExplanationAnswer, CellFailureAnswer } from '../../../../src/wire/runs/status.ts'
import { messageOf } from '../../api/api-error.ts'
import type { SheetContract } from '../../api/contract.ts'
import { openRunDialog } from '../../runs/dialogs/run-dialog.tsx'
import { retryCell } from '../../runs/dialogs/retry-cell.ts'
import { useActor } from '../../state/actor.ts'
import type { CellRef } from '../../state/view-state.ts'
import { FormError } from '../../ui/form-error.tsx'
import { Button } from '../../ui/button.tsx'
import { Moment } from '../../ui/moment.tsx'
import { FieldButton, ReasonItem } from './reason-item.tsx'
import './state-explanation.css'

interface StateExplanationProps {
  readonly contract: SheetContract
  readonly cell: CellRef
  readonly explanation: CellExplanationAnswer
  readonly onSelect: (cell: CellRef) => void
}

/** Explains why a derived cell is not fresh or overridden. */
export function StateExplanation({ contract, cell, explanation, onSelect }: StateExplanationProps) {
  const { state, reasons, failure, entry, waits_for: waitsFor } = explanation
  const hasValue = entry !== null && entry.value !== null
  if (state === 'fresh' || state === 'overridden') return null
  const select = (field: string): void => onSelect({ recordId: cell.recordId, field })
  return (
    <section className="panel-section why" aria-labelledby="why-title">
      <h3 id="why-title">{state === 'failed' ? 'Why it failed' : `Why it is ${state}`}</h3>
      {failure !== null && (
        <Failure cell={cell} failure={failure} hasValue={hasValue} canRetry={state === 'failed'} />
      )}
      <Waiting contract={contract} explanation={explanation} onSelect={select} />
      {state === 'missing' && <p>It has never been computed.</p>}
      {reasons.length > 0 && (
        <>
          {state === 'failed' && <p className="panel-faint">Changed since it was last computed:</p>}
          <ul className="reasons">
            {reasons.map((reason) => (
              <li key={reason.part === 'input' ? `input ${reason.field}` : reason.part}>
                <ReasonItem
                  contract={contract}
                  derivation={derivationOf(contract, cell)}
                  reason={reason}
                  onSelect={select}
                />
              </li>
            ))}
          </ul>
        </>
      )}
      {state === 'stale' && reasons.length === 0 && (
        <p>The changes were undone. The next run marks this cell as fresh, without a call.</p>
      )}
      {state !== 'blocked' && (state !== 'failed' || waitsFor.length > 0) && (
        <div className="why-actions">
          <Button
            icon={<Play size={14} />}
            onClick={() => openRunDialog(...orderOf(contract, cell, waitsFor))}
          >
            Compute cell
          </Button>
        </div>
      )}
    </section>
  )
}

const BLOCKED_TEXTS = {
  input_failed: 'failed',
  input_blocked: 'is blocked itself',
} as const

interface WaitingProps {
  readonly contract: SheetContract
  readonly explanation: CellExplanationAnswer
  readonly onSelect: (field: string) => void
}

/** The input that blocks a cell, or the inputs that have to be computed first. */
function Waiting({ contract, explanation, onSelect }: WaitingProps) {
  const { blocked_by: blockedBy, blocked_reason: reason, waits_for: waitsFor } = explanation
  if (blockedBy !== null && reason !== null) {
    if (reason === 'input_empty')
      return (
        <p>
          Not applicable: <FieldButton contract={contract} name={blockedBy} onSelect={onSelect} /> is empty.
        </p>
      )
    return (
      <p>
        Waiting for <FieldButton contract={contract} name={blockedBy} onSelect={onSelect} />, which{' '}
        {BLOCKED_TEXTS[reason]}.
      </p>
    )
  }
  if (waitsFor.length === 0) return null
  return (
    <p>
      Waiting for{' '}
      {waitsFor.map((name, index) => (
        <Fragment key={name}>
          {index > 0 && ', '}
          <FieldButton contract={contract} name={name} onSelect={onSelect} />
        </Fragment>
      ))}
      , which {waitsFor.length === 1 ? 'has' : 'have'} not been computed yet.
    </p>
  )
}

/** Returns a run of this cell and the inputs it waits for, with its title. */
function orderOf(
  { titleOf }: SheetContract,
  { recordId, field }: CellRef,
  waitsFor: readonly string[],
): Parameters<typeof openRunDialog> {
  return [
    { targets: [...waitsFor, field], record_ids: [recordId] },
    `Compute ${titleOf(field)} of ${recordId}`,
  ]
}

function derivationOf({ fieldByName }: SheetContract, { field }: CellRef): string {
  return fieldByName.get(field)?.derived?.derivation ?? 'the derivation'
}

interface FailureProps {
  readonly cell: CellRef
  readonly failure: CellFailureAnswer
  /** Whether the cell has kept an earlier value. */
  readonly hasValue: boolean
  /** False for a blocked cell. */
  readonly canRetry: boolean
}

/** The error of the last attempt, with a button to retry. */
function Failure({ cell, failure, hasValue, canRetry }: FailureProps) {
  const [actor] = useActor()
  const client = useQueryClient()
  const retry = useMutation({
    mutationFn: () => retryCell(cell, actor),
    onSettled: () => client.invalidateQueries({ queryKey: ['records'] }),
  })
  return (
    <div className="failure">
      <p className="failure-text">{failure.error}</p>
      {failure.response_body !== undefined && (
        <pre className="failure-body" aria-label="Response body">
          {failure.response_body}
        </pre>
      )}
      <p className="panel-faint">
        {failure.error_type}, <Moment at={failure.at} />.{hasValue && ' The earlier value is kept.'}
      </p>
      {failure.retry_at !== undefined && (
        <p className="panel-faint">
          {failure.retry_at === null ? (
            'Runs do not retry it.'
          ) : (
            <>
              Runs retry it <Moment at={failure.retry_at} />.
            </>
          )}
        </p>
      )}
      {canRetry && (
        <div className="why-actions">
          <Button icon={<RotateCw size={14} />} disabled={retry.isPending} onClick={() => retry.mutate()}>
            {retry.isPending ? 'Retrying…' : 'Retry'}
          </Button>
        </div>
      )}
      <FormError text={retry.error === null ? null : messageOf(retry.error)} />
    </div>
  )
}

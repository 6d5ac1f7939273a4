import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import type { RevertAnswer } from '../../../../src/wire/runs/revert.ts'
import type { RunSummary } from '../../../../src/wire/runs/runs.ts'
import { messageOf } from '../../api/api-error.ts'
import { server } from '../../api/server.ts'
import { useActor } from '../../state/actor.ts'
import { FormError } from '../../ui/form-error.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { countOf, formatCount } from '../../ui/format.ts'
import { cellPath } from '../../state/view-state.ts'
import { beginDialogRevert } from '../progress/reverts-in-dialog.ts'
import './run-dialog.css'
import { runNameWithin, runUnit } from '../display/run-text.ts'

interface RevertRunDialogProps {
  readonly run: RunSummary
  readonly onClose: () => void
}

/** Confirms and reverts a run, and shows the result. */
export function RevertRunDialog({ run, onClose }: RevertRunDialogProps) {
  const client = useQueryClient()
  const [actor] = useActor()
  const [isReverting, setIsReverting] = useState(false)
  const [outcome, setOutcome] = useState<RevertAnswer | null>(null)
  const [error, setError] = useState<string | null>(null)
  const revert = async (): Promise<void> => {
    setIsReverting(true)
    setError(null)
    const endDialogRevert = beginDialogRevert(run.id)
    try {
      setOutcome(await server.runs.revert(run.id, { actor }))
    } catch (thrown) {
      setError(messageOf(thrown))
    } finally {
      endDialogRevert()
      setIsReverting(false)
      for (const first of ['records', 'runs']) void client.invalidateQueries({ queryKey: [first] })
    }
  }
  const isRevert = run.kind === 'revert'
  return (
    <Dialog
      title={
        outcome !== null
          ? 'Reverted'
          : isRevert
            ? `Undo the revert of run ${run.reverts ?? ''}?`
            : `Revert ${runNameWithin(run)}?`
      }
      open
      onClose={onClose}
      actions={
        outcome !== null ? (
          <Button look="primary" autoFocus onClick={onClose}>
            Done
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>{isReverting ? 'Close' : 'Cancel'}</Button>
            <Button look="danger" disabled={isReverting} onClick={() => void revert()}>
              {isReverting ? 'Reverting…' : `Revert ${countOf(run.materialized, runUnit(run))}`}
            </Button>
          </>
        )
      }
    >
      {outcome !== null ? (
        <Outcome outcome={outcome} onClose={onClose} unit={run.kind === 'import' ? 'change' : 'cell'} />
      ) : run.kind === 'import' ? (
        <ImportConsequences run={run} />
      ) : (
        <Consequences run={run} />
      )}
      <FormError text={error} />
    </Dialog>
  )
}

function Consequences({ run }: { readonly run: RunSummary }) {
  return (
    <>
      <p className="run-dialog-text">
        Restores the values from before this {run.kind === 'revert' ? 'revert' : 'run'} in{' '}
        {countOf(run.materialized, 'cell')}.
      </p>
      <p className="run-dialog-text soft">
        Cells that have changed since, and cells whose earlier value the contract no longer allows, are
        conflicts and are skipped.{' '}
        {run.kind === 'materialize' &&
          ' Reverted results are removed from the cache; the cost of their calls remains.'}{' '}
        A revert is itself a run and can be reverted.
      </p>
    </>
  )
}

function ImportConsequences({ run }: { readonly run: RunSummary }) {
  return (
    <>
      <p className="run-dialog-text">
        Restores the values from before this import in {countOf(run.materialized, 'record')}, and{' '}
        <b>deletes the records that it created</b>.
      </p>
      <p className="run-dialog-text soft">
        Values that have changed since are conflicts and stay, and so do created records with such a value. A
        revert is itself a run and can be reverted.
      </p>
    </>
  )
}

const CONFLICTS_LISTED = 100

function Outcome({
  outcome: { reverted, conflicts, run_id: id },
  onClose,
  unit,
}: {
  readonly outcome: RevertAnswer
  /** The name of what was reverted. */
  readonly unit: string
  readonly onClose: () => void
}) {
  return (
    <div role="status">
      <p className="run-dialog-text">
        {countOf(reverted, unit)} reverted
        {conflicts.length === 0
          ? ', without conflicts.'
          : `; ${countOf(conflicts.length, 'conflict')} skipped.`}{' '}
        {id !== null && (
          <Link href={`/runs/${id}`} onClick={onClose}>
            Open this revert
          </Link>
        )}
      </p>
      {conflicts.length > 0 && (
        <ul className="run-conflicts">
          {conflicts.slice(0, CONFLICTS_LISTED).map(({ record_id: recordId, field }) => (
            <li key={`${recordId} ${field}`}>
              <Link href={cellPath({ recordId, field })} onClick={onClose}>
                {recordId} · {field}
              </Link>
            </li>
          ))}
          {conflicts.length > CONFLICTS_LISTED && (
            <li>and {formatCount(conflicts.length - CONFLICTS_LISTED)} more</li>
          )}
        </ul>
      )}
    </div>
  )
}

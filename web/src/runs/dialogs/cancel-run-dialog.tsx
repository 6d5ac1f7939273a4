import { useState } from 'react'
import type { RunSummary } from '../../../../src/wire/runs/runs.ts'
import { messageOf } from '../../api/api-error.ts'
import { server } from '../../api/server.ts'
import { useActor } from '../../state/actor.ts'
import { FormError } from '../../ui/form-error.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { countOf } from '../../ui/format.ts'
import './run-dialog.css'
import { runCost } from '../display/plan-text.ts'
import { runNameWithin } from '../display/run-text.ts'

const CONSEQUENCES = {
  materialize: 'No new calls start, and calls in flight are aborted. A later run continues from there.',
  revert: 'To revert the remaining cells, revert the same run again.',
  import: 'To continue, import the same file again: records that are written already do not change.',
} as const

interface CancelRunDialogProps {
  readonly run: RunSummary
  readonly open: boolean
  readonly onClose: () => void
}

/** Confirms and cancels a run. */
export function CancelRunDialog({ run, open, onClose }: CancelRunDialogProps) {
  const [actor] = useActor()
  const [isEnding, setIsEnding] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const cancel = async (): Promise<void> => {
    setIsEnding(true)
    setError(null)
    try {
      // The end is reported by the stream of the run.
      await server.runs.cancel(run.id, { actor })
      onClose()
    } catch (thrown) {
      setError(messageOf(thrown))
    } finally {
      setIsEnding(false)
    }
  }
  return (
    <Dialog
      title={`Cancel ${runNameWithin(run)}?`}
      open={open}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep running</Button>
          <Button look="danger" disabled={isEnding} onClick={() => void cancel()}>
            {isEnding ? 'Cancelling…' : 'Cancel run'}
          </Button>
        </>
      }
    >
      <p className="run-dialog-text">{keptText(run)}</p>
      <p className="run-dialog-text soft">{CONSEQUENCES[run.kind]}</p>
      <FormError text={error} />
    </Dialog>
  )
}

function keptText(run: RunSummary): string {
  const { kind, materialized, calls } = run
  if (kind === 'revert') return `${countOf(materialized, 'reverted cell')} so far will stay reverted.`
  if (kind === 'import') return `${countOf(materialized, 'record')} written so far will be kept.`
  const spent = calls > 0 ? `; ${countOf(calls, 'call')} made, ${runCost(run)}` : ''
  return `${countOf(materialized, 'stored result')} so far will be kept${spent}.`
}

import { useQueryClient } from '@tanstack/react-query'
import { useState, type KeyboardEvent } from 'react'
import type { ProposalAnswer } from '../../../src/wire/records/proposals.ts'
import { messageOf } from '../api/api-error.ts'
import { server } from '../api/server.ts'
import { useActor } from '../state/actor.ts'
import { FormError } from '../ui/form-error.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import '../ui/form.css'
import { showSuccess } from '../ui/toasts.tsx'
import { movedRecords, proposalName, reasonForMoved } from './proposal-text.ts'
import './reject-dialog.css'

interface RejectDialogProps {
  readonly proposal: ProposalAnswer
  readonly onClose: () => void
}

/** Asks for a reason and rejects a proposal. */
export function RejectDialog({ proposal, onClose }: RejectDialogProps) {
  const client = useQueryClient()
  const [actor] = useActor()
  const [reason, setReason] = useState(() => reasonForMoved(movedRecords(proposal)))
  const [isRejecting, setIsRejecting] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const isOwn = proposal.proposed_by === actor

  const reject = async (): Promise<void> => {
    setIsRejecting(true)
    setError(null)
    try {
      await server.proposals.reject(proposal.id, reason, { actor })
      const done = isOwn ? 'withdrawn' : 'rejected'
      showSuccess(`${proposalName(proposal)} ${done}`, { href: `/proposals/${proposal.id}`, name: 'Show' })
      onClose()
    } catch (thrown) {
      setError(messageOf(thrown))
      setIsRejecting(false)
    } finally {
      void client.invalidateQueries({ queryKey: ['proposals'] })
    }
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || isRejecting) return
    event.preventDefault()
    void reject()
  }
  return (
    <Dialog
      title={
        isOwn
          ? `Withdraw ${proposalName(proposal).toLowerCase()}?`
          : `Reject ${proposalName(proposal).toLowerCase()}?`
      }
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="danger" disabled={isRejecting} onClick={() => void reject()}>
            {isOwn ? 'Withdraw' : 'Reject'}
          </Button>
        </>
      }
    >
      <div className="form reject-form">
        <label>
          Reason (optional)
          <textarea
            value={reason}
            rows={3}
            maxLength={2000}
            autoFocus
            onChange={(event) => setReason(event.target.value)}
            onKeyDown={onKeyDown}
          />
        </label>
        <p className="form-hint">
          The sheet does not change, and the proposal stays readable with this reason.
        </p>
        <FormError text={error} />
      </div>
    </Dialog>
  )
}

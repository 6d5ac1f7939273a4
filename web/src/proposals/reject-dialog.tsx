import { useQueryClient } from '@tanstack/react-query'
import { useState, type KeyboardEvent } from 'react'
import type { ProposalAnswer } from '../../../src/wire/records/proposals.ts'
import type { ProposalCells } from '../../../src/client/client.ts'
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
  /** The proposal, with the records that are rejected. */
  readonly proposal: ProposalAnswer
  /** The part that is rejected, and its size; absent and null for all that waits. */
  readonly cells: readonly ProposalCells[] | undefined
  readonly what: string | null
  readonly onDecided: () => void
  readonly onClose: () => void
}

/** Asks for a reason and rejects a proposal, or a part of it. */
export function RejectDialog({ proposal, cells, what, onDecided, onClose }: RejectDialogProps) {
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
      await server.proposals.reject(proposal.id, reason, { actor, cells })
      const done = isOwn ? 'withdrawn' : 'rejected'
      const part = what === null ? '' : `: ${what}`
      showSuccess(`${proposalName(proposal)}${part} ${done}`, {
        href: `/proposals/${proposal.id}`,
        name: 'Show',
      })
      onDecided()
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
  const name = `${what === null ? '' : `${what} of `}${proposalName(proposal).toLowerCase()}`
  return (
    <Dialog
      title={isOwn ? `Withdraw ${name}?` : `Reject ${name}?`}
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

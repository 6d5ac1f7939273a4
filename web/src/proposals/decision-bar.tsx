import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Check, X } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import type { ProposalPlanAnswer } from '../../../src/wire/definition/proposal-plan.ts'
import type { ProposalAnswer, RecordDifferenceAnswer } from '../../../src/wire/records/proposals.ts'
import { messageOf } from '../api/api-error.ts'
import { server } from '../api/server.ts'
import type { SheetContract } from '../api/contract.ts'
import { permissionsQuery } from '../api/queries.ts'
import { useCommands } from '../ui/command-menu.tsx'
import { useActor } from '../state/actor.ts'
import { FormError } from '../ui/form-error.tsx'
import { Button } from '../ui/button.tsx'
import { showSuccess } from '../ui/toasts.tsx'
import { countOf } from '../ui/format.ts'
import { cellsOf, chosenRecords, isWhole, tickedState, waitingKeys, type Ticked } from './proposal-parts.ts'
import { proposalPlanQuery } from './proposal-queries.ts'
import { movedRecords, proposalName, acceptObstacle } from './proposal-text.ts'
import { RejectDialog } from './reject-dialog.tsx'
import { acceptedEdits, addAccepted } from './undo-accepted.ts'

interface DecisionBarProps {
  readonly contract: SheetContract
  readonly proposal: ProposalAnswer
  readonly ticked: Ticked
  readonly onDecided: () => void
}

/** The buttons that accept or reject what is ticked of a waiting proposal, or all that waits, with the keys Ctrl+Enter and R. */
export function DecisionBar({ contract, proposal, ticked, onDecided }: DecisionBarProps) {
  const client = useQueryClient()
  const [actor] = useActor()
  const { data: permissions } = useQuery(permissionsQuery(actor))
  const [isAccepting, setIsAccepting] = useState(false)
  const [isRejecting, setIsRejecting] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const { titleOf } = contract
  const records = chosenRecords(proposal, ticked)
  const chosen = { ...proposal, records }
  const cells = isPartOf(proposal, ticked) ? cellsOf(records) : undefined
  const isDecidedInPart = proposal.decisions.length > 0
  const what = cells !== undefined ? partText(records) : isDecidedInPart ? 'the rest' : null
  const obstacle = acceptObstacle(chosen, actor, permissions, titleOf)
  const hasChanged = movedRecords(chosen).length > 0
  const isDefinition = proposal.kind === 'definition'
  const { data: plan } = useQuery({ ...proposalPlanQuery(proposal.id), enabled: isDefinition })
  const isPlanned = !isDefinition || plan?.conflicts.length === 0
  const mayAccept = obstacle === null && !hasChanged && !isAccepting && isPlanned
  const isOwn = proposal.proposed_by === actor
  const meaning = `If you accept, the log names you (${actor}) and ${proposal.proposed_by}, who proposed it.`

  const accept = async (): Promise<void> => {
    setIsAccepting(true)
    setError(null)
    try {
      await server.proposals.accept(proposal.id, {
        actor,
        cells,
        ...(plan !== undefined && { confirm: lostIn(plan) }),
      })
      const text = `${proposalName(proposal)}${what === null ? '' : `: ${what}`} accepted`
      showSuccess(
        text,
        isDefinition
          ? { href: `/proposals/${proposal.id}`, name: 'Show' }
          : { name: 'Undo', run: addAccepted(client, acceptedEdits(contract, records), actor) },
      )
      onDecided()
    } catch (thrown) {
      setError(messageOf(thrown))
    } finally {
      setIsAccepting(false)
      void client.invalidateQueries({ queryKey: ['proposals'] })
      void client.invalidateQueries({ queryKey: ['records'] })
    }
  }
  useDecisionKeys({
    accept: mayAccept ? () => void accept() : null,
    reject: () => setIsRejecting(true),
  })
  useCommands(
    'proposal',
    useMemo(
      () => [
        { group: 'Proposals', name: `Reject proposal ${proposal.id}…`, run: () => setIsRejecting(true) },
      ],
      [proposal.id],
    ),
  )
  return (
    <footer className="decision">
      {error !== null ? (
        <FormError text={error} />
      ) : (
        <p>
          {hasChanged
            ? `${what === null ? 'It conflicts' : 'What is ticked conflicts'} with later changes.`
            : (obstacle ?? meaning)}
        </p>
      )}
      <div className="decision-buttons">
        <Button
          look={hasChanged ? 'primary' : 'plain'}
          icon={<X size={15} />}
          onClick={() => setIsRejecting(true)}
          aria-keyshortcuts="R"
        >
          {isOwn ? 'Withdraw' : 'Reject'}
          {what === null ? '' : ` ${what}`}… <kbd aria-hidden="true">R</kbd>
        </Button>
        <Button
          look={hasChanged ? 'plain' : 'primary'}
          icon={<Check size={15} />}
          disabled={!mayAccept}
          onClick={() => void accept()}
          aria-keyshortcuts="Control+Enter"
        >
          {isAccepting ? 'Accepting…' : what === null ? 'Accept' : `Accept ${what}`}{' '}
          <kbd aria-hidden="true">Ctrl ↵</kbd>
        </Button>
      </div>
      {isRejecting && (
        <RejectDialog
          proposal={chosen}
          cells={cells}
          what={what}
          onDecided={onDecided}
          onClose={() => setIsRejecting(false)}
        />
      )}
    </footer>
  )
}

/** Whether a part of what waits is ticked, and not all of it. */
function isPartOf({ records }: ProposalAnswer, ticked: Ticked): boolean {
  const waiting = records.flatMap(waitingKeys)
  return !['none', 'all'].includes(tickedState(ticked, waiting))
}

/** Returns the size of a part of a proposal: `2 values`, `1 record`. */
function partText(records: readonly RecordDifferenceAnswer[]): string {
  if (records.every(isWhole)) return countOf(records.length, 'record')
  return countOf(
    records.reduce((sum, record) => sum + (isWhole(record) ? 1 : record.fields.length), 0),
    'value',
  )
}

/** Returns the numbers of values that the plan says are lost, which the person who accepts confirms. */
function lostIn({ fields }: ProposalPlanAnswer): Readonly<Record<string, number>> {
  return Object.fromEntries(
    fields.flatMap(({ field, change, lost }) => (change === 'removed' ? [[field, lost] as const] : [])),
  )
}

interface DecisionKeys {
  /** Null if the proposal cannot be accepted. */
  readonly accept: (() => void) | null
  readonly reject: () => void
}

/** Handles the keys, except in inputs, dialogs and menus. */
function useDecisionKeys({ accept, reject }: DecisionKeys): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { target } = event
      if (event.defaultPrevented || event.repeat) return
      if (
        target instanceof Element &&
        target.closest('input:not([type=checkbox]), textarea, [role=dialog], [role=menu]')
      )
        return
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && accept !== null) accept()
      else if (event.key.toLowerCase() === 'r' && isPlain && !event.shiftKey) reject()
      else return
      event.preventDefault()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
}

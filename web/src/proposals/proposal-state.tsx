import { CircleCheck, CircleX, Hourglass } from 'lucide-react'
import type { ProposalSummary } from '../../../src/wire/records/proposals.ts'
import './proposal-state.css'

const ICONS = { waiting: Hourglass, accepted: CircleCheck, rejected: CircleX } as const

/** An icon and a label for the state of a proposal. */
export function ProposalState({ state }: Pick<ProposalSummary, 'state'>) {
  const Icon = ICONS[state]
  return (
    <span className={`proposal-state ${state}`}>
      <Icon size={15} aria-hidden="true" />
      {state}
    </span>
  )
}

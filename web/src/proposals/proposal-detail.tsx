import { useQuery } from '@tanstack/react-query'
import { Fragment, useState } from 'react'
import { ArrowLeft, X } from 'lucide-react'
import { Link } from 'wouter'
import type { ProposalAnswer } from '../../../src/wire/records/proposals.ts'
import { ApiError, messageOf } from '../api/api-error.ts'
import type { SheetContract } from '../api/contract.ts'
import { Moment } from '../ui/moment.tsx'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { DefinitionDifference } from './definition-difference.tsx'
import { DecisionBar } from './decision-bar.tsx'
import './proposal-detail.css'
import { proposalQuery } from './proposal-queries.ts'
import { ProposalState } from './proposal-state.tsx'
import { changeText, CHANGE_TEXTS, movedRecords, proposalName } from './proposal-text.ts'
import type { Ticked } from './proposal-parts.ts'
import { ProposalTable } from './proposal-table.tsx'
import { useProposalFilter } from './use-proposal-filter.ts'

interface ProposalDetailProps {
  readonly contract: SheetContract
  readonly id: string
}

const NOTHING: Ticked = new Set()

/** A proposal with its author, note, differences and decision. */
export function ProposalDetail({ contract, id }: ProposalDetailProps) {
  const { data: proposal, error, refetch } = useQuery(proposalQuery(id))
  const { pathOf } = useProposalFilter()
  const [ticked, setTicked] = useState<Ticked>(NOTHING)
  return (
    <section className="proposal" aria-label={proposalName({ id })}>
      <header className="proposal-head">
        <Link href={pathOf(null)} className="proposal-back" aria-label="Back to the proposals" title="Back">
          <ArrowLeft size={16} />
        </Link>
        <h2>{proposalName({ id })}</h2>
        {proposal !== undefined && <ProposalState state={proposal.state} />}
        <Link href={pathOf(null)} className="proposal-close" aria-label="Close" title="Close">
          <X size={16} />
        </Link>
      </header>
      {error !== null ? (
        <Notice
          kind="error"
          title="This proposal cannot be shown"
          actions={
            !(error instanceof ApiError && error.status === 404) && (
              <Button onClick={() => void refetch()}>Try again</Button>
            )
          }
        >
          {messageOf(error)}
        </Notice>
      ) : proposal === undefined ? (
        <div className="proposal-body" aria-busy="true" />
      ) : (
        <>
          <div className="proposal-body">
            <Overview proposal={proposal} />
            <ChangedNotice proposal={proposal} />
            {proposal.definition === undefined ? (
              <ProposalTable contract={contract} proposal={proposal} ticked={ticked} onTicked={setTicked} />
            ) : (
              <DefinitionDifference proposal={proposal} definition={proposal.definition} />
            )}
          </div>
          {proposal.state === 'waiting' && (
            <DecisionBar
              contract={contract}
              proposal={proposal}
              ticked={ticked}
              onDecided={() => setTicked(NOTHING)}
            />
          )}
        </>
      )}
    </section>
  )
}

/** The author, the note and the decision of a proposal. */
function Overview({ proposal }: { readonly proposal: ProposalAnswer }) {
  const { note, decisions } = proposal
  const isInParts = decisions.length > 1 || proposal.state === 'waiting'
  return (
    <div className="proposal-story">
      <p>
        {changeText(proposal)}: proposed by <strong>{proposal.proposed_by}</strong>,{' '}
        <Moment at={proposal.proposed_at} />.
      </p>
      {note !== null && <blockquote>{note}</blockquote>}
      {decisions.map(({ state, by, at, reason }, index) => (
        <Fragment key={`${at} ${index}`}>
          <p>
            {state === 'accepted' ? 'Accepted' : 'Rejected'}
            {isInParts && ' in part'} by <strong>{by}</strong>, <Moment at={at} />.
          </p>
          {reason !== null && <blockquote>{reason}</blockquote>}
        </Fragment>
      ))}
    </div>
  )
}

/** The number of changed records that the notice names. */
const NAMED = 5

/** Explains that records have changed since the proposal. */
function ChangedNotice({ proposal }: { readonly proposal: ProposalAnswer }) {
  const moved = movedRecords(proposal)
  if (moved.length === 0) return null
  return (
    <div className="proposal-moved" role="status">
      <p>
        <strong>The data has changed since this was proposed,</strong> so it cannot be accepted as a whole.
        Tick values that have not changed to accept these; reject the rest, and have it proposed again.
      </p>
      <ul>
        {moved.slice(0, NAMED).map(({ record_id: id, moved: how }) => (
          <li key={id}>
            <code>{id}</code> {how !== null && CHANGE_TEXTS[how]}
          </li>
        ))}
        {moved.length > NAMED && <li>and {moved.length - NAMED} more</li>}
      </ul>
    </div>
  )
}

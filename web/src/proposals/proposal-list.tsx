import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { ProposalSummary } from '../../../src/wire/records/proposals.ts'
import { messageOf } from '../api/api-error.ts'
import { Moment } from '../ui/moment.tsx'
import { Button } from '../ui/button.tsx'
import { formatCount } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import './proposal-list.css'
import { proposalPagesQuery, waitingQuery, type ProposalFilter } from './proposal-queries.ts'
import { ProposalState } from './proposal-state.tsx'
import { changeText, proposalName } from './proposal-text.ts'
import { useProposalFilter } from './use-proposal-filter.ts'
import { moveFocus } from '../ui/move-focus.ts'

const FILTERS = { waiting: 'Waiting', accepted: 'Accepted', rejected: 'Rejected', all: 'All' } as const

/** The list of proposals in a state, newest first. */
export function ProposalList({ selected }: { readonly selected: string | null }) {
  const { filter, pathOf, pathFor } = useProposalFilter()
  const { data: waiting } = useQuery(waitingQuery)
  return (
    <section className="proposal-list" aria-label="Proposals">
      <nav className="proposal-filters" aria-label="State of the proposals">
        {Object.entries(FILTERS).map(([name, title]) => (
          <Link
            key={name}
            href={pathFor(name as ProposalFilter)}
            aria-current={name === filter ? 'true' : undefined}
          >
            {title}
            {name === 'waiting' && waiting !== undefined && waiting > 0 && ` (${formatCount(waiting)})`}
          </Link>
        ))}
      </nav>
      <Proposals filter={filter} selected={selected} pathOf={pathOf} />
    </section>
  )
}

interface ProposalsProps {
  readonly filter: ProposalFilter
  readonly selected: string | null
  readonly pathOf: (id: string) => string
}

function Proposals({ filter, selected, pathOf }: ProposalsProps) {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = useInfiniteQuery(
    proposalPagesQuery(filter),
  )
  const proposals = data?.pages.flatMap((page) => page.proposals)
  if (error !== null && proposals === undefined) {
    return (
      <Notice
        kind="error"
        title="Cannot read the proposals"
        actions={<Button onClick={() => void refetch()}>Try again</Button>}
      >
        {messageOf(error)}
      </Notice>
    )
  }
  if (proposals === undefined) return <div className="proposal-list-scroll" aria-busy="true" />
  if (proposals.length === 0) return <NoProposals filter={filter} />
  return (
    <div className="proposal-list-scroll">
      <ul>
        {proposals.map((proposal) => (
          <li key={proposal.id}>
            <ProposalLink
              proposal={proposal}
              path={pathOf(proposal.id)}
              isSelected={proposal.id === selected}
            />
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <div className="proposal-list-more">
          <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {error === null ? 'More' : 'Try again'}
          </Button>
        </div>
      )}
    </div>
  )
}

interface ProposalLinkProps {
  readonly proposal: ProposalSummary
  readonly path: string
  readonly isSelected: boolean
}

function ProposalLink({ proposal, path, isSelected }: ProposalLinkProps) {
  return (
    <Link
      href={path}
      className="proposal-link"
      aria-current={isSelected ? 'true' : undefined}
      onKeyDown={moveFocus}
    >
      <span className="proposal-link-head">
        <strong>{proposalName(proposal)}</strong>
        <ProposalState state={proposal.state} />
      </span>
      <span className="proposal-link-what">{changeText(proposal)}</span>
      {proposal.note !== null && <span className="proposal-link-note">{proposal.note}</span>}
      <span className="proposal-link-who">
        {proposal.proposed_by}, <Moment at={proposal.proposed_at} />
      </span>
    </Link>
  )
}

function NoProposals({ filter }: { readonly filter: ProposalFilter }) {
  const title =
    filter === 'waiting' ? 'No waiting proposals' : filter === 'all' ? 'No proposals' : `None ${filter} yet`
  return (
    <Notice hasGhosts title={title}>
      <p>
        A program that may not write directly, such as an agent with <code>--propose</code>, proposes its
        changes. They wait here until someone accepts or rejects them.
      </p>
    </Notice>
  )
}

import type { SheetContract } from '../api/contract.ts'
import { ProposalDetail } from './proposal-detail.tsx'
import { ProposalList } from './proposal-list.tsx'
import './proposals-page.css'

interface ProposalsPageProps {
  readonly contract: SheetContract
  /** The selected proposal. */
  readonly proposalId: string | null
}

/** The page with the list of proposals and the selected one. */
export default function ProposalsPage({ contract, proposalId }: ProposalsPageProps) {
  return (
    <div className={`proposals-page ${proposalId === null ? '' : 'with-detail'}`}>
      <h1 className="visually-hidden">Proposals</h1>
      <ProposalList selected={proposalId} />
      {proposalId !== null && <ProposalDetail key={proposalId} contract={contract} id={proposalId} />}
    </div>
  )
}

import type { Contract } from '../../contract/contract.ts'
import type {
  NewProposal,
  ProposalCounts,
  ProposalDecision,
  ProposalDetail,
  ProposalId,
  ProposalRejection,
  ProposalStore,
  ProposalsQuery,
  StoredProposal,
  ProposedRecord,
} from '../stored-proposal.ts'
import { proposalById, PROPOSAL_COUNTS, proposalsBefore } from '../rows/proposal-queries.ts'
import { acceptProposal, rejectProposal } from '../rules/decide-proposal.ts'
import { proposalDetail } from '../rules/proposal-detail.ts'
import { propose } from '../rules/propose.ts'
import { inTurn } from '../rules/steps.ts'
import { readPresentRecords } from './read/present-records.ts'
import type { Connection } from './database/connection.ts'
import type { Writer } from './write/writer.ts'

/** The proposals of a store in PostgreSQL. */
export class PostgresProposals implements ProposalStore {
  readonly #writer: Pick<Writer, 'change'>
  readonly #db: Connection
  readonly #contract: () => Contract

  /** `contract` returns the contract that the store follows now. */
  constructor(parts: { writer: Pick<Writer, 'change'>; db: Connection; contract: () => Contract }) {
    this.#writer = parts.writer
    this.#db = parts.db
    this.#contract = parts.contract
  }

  propose(proposal: NewProposal): Promise<ProposalId> {
    return this.#writer.change((change) => inTurn(propose(change, proposal)))
  }

  accept(decision: ProposalDecision): Promise<void> {
    return this.#writer.change((change) => inTurn(acceptProposal(change, decision)))
  }

  reject(rejection: ProposalRejection): Promise<void> {
    return this.#writer.change((change) => inTurn(rejectProposal(change, rejection)))
  }

  get(id: ProposalId): Promise<StoredProposal | null> {
    return this.#db.ask(proposalById(id))
  }

  detail(id: ProposalId): Promise<ProposalDetail | null> {
    const [db, contract] = [this.#db, this.#contract()]
    const source = {
      contract,
      recordsAtOnce: 200,
      ask: db.ask.bind(db),
      present: (proposed: readonly ProposedRecord[]) =>
        readPresentRecords(
          db,
          contract.fields,
          proposed.map(({ recordId }) => recordId),
        ),
      pause: () => undefined,
    }
    return inTurn(proposalDetail(source, id))
  }

  list(query: ProposalsQuery): Promise<readonly StoredProposal[]> {
    return this.#db.ask(proposalsBefore(query))
  }

  counts(): Promise<ProposalCounts> {
    return this.#db.ask(PROPOSAL_COUNTS)
  }
}

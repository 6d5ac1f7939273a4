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
} from '../stored-proposal.ts'
import type { Connection } from './database/connection.ts'
import { acceptProposal, rejectProposal } from './write/decide-proposal.ts'
import {
  readProposal,
  readProposalCounts,
  readProposalDetail,
  readProposals,
} from './read/proposal-reader.ts'
import { propose } from './write/propose.ts'
import type { Writer } from './write/writer.ts'

/** The proposals of a store in PostgreSQL. */
export class PostgresProposals implements ProposalStore {
  readonly #writer: Pick<Writer, 'change'>
  readonly #db: Connection
  readonly #contract: () => Contract

  /** `contract` is asked for the one that the store follows now. */
  constructor(parts: { writer: Pick<Writer, 'change'>; db: Connection; contract: () => Contract }) {
    this.#writer = parts.writer
    this.#db = parts.db
    this.#contract = parts.contract
  }

  propose(proposal: NewProposal): Promise<ProposalId> {
    return this.#writer.change((change) => propose(change, proposal))
  }

  accept(decision: ProposalDecision): Promise<void> {
    return this.#writer.change((change) => acceptProposal(change, decision))
  }

  reject(rejection: ProposalRejection): Promise<void> {
    return this.#writer.change((change) => rejectProposal(change, rejection))
  }

  get(id: ProposalId): Promise<StoredProposal | null> {
    return readProposal(this.#db, id)
  }

  detail(id: ProposalId): Promise<ProposalDetail | null> {
    return readProposalDetail(this.#db, this.#contract(), id)
  }

  list(query: ProposalsQuery): Promise<readonly StoredProposal[]> {
    return readProposals(this.#db, query)
  }

  counts(): Promise<ProposalCounts> {
    return readProposalCounts(this.#db)
  }
}

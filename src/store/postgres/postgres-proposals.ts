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
  ProposedCell,
  ProposedDefinition,
  StoredProposal,
} from '../stored-proposal.ts'
import {
  proposalById,
  PROPOSAL_COUNTS,
  proposalsBefore,
  proposedDefinition,
} from '../rows/proposal-queries.ts'
import { acceptProposal, rejectProposal } from '../rules/decide-proposal.ts'
import { proposalDetail, proposedCells, type ProposalSource } from '../rules/proposal-detail.ts'
import { propose } from '../rules/propose.ts'
import { runAsync } from '../rules/steps.ts'
import type { Connection } from './database/connection.ts'
import type { Writer } from './write/writer.ts'

interface Parts {
  readonly writer: Pick<Writer, 'change'>
  readonly db: Connection
  readonly records: ProposalSource['records']
  /** Returns the contract that the store follows now. */
  contract(): Contract
}

/** The proposals of a store in PostgreSQL. */
export class PostgresProposals implements ProposalStore {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  propose(proposal: NewProposal): Promise<ProposalId> {
    return this.#parts.writer.change((change) => runAsync(propose(change, proposal)))
  }

  accept(decision: ProposalDecision): Promise<void> {
    return this.#parts.writer.change((change) => runAsync(acceptProposal(change, decision)))
  }

  reject(rejection: ProposalRejection): Promise<void> {
    return this.#parts.writer.change((change) => runAsync(rejectProposal(change, rejection)))
  }

  get(id: ProposalId): Promise<StoredProposal | null> {
    return this.#parts.db.query(proposalById(id))
  }

  definition(id: ProposalId): Promise<ProposedDefinition | null> {
    return this.#parts.db.query(proposedDefinition(id))
  }

  detail(id: ProposalId): Promise<ProposalDetail | null> {
    const { db, records, contract } = this.#parts
    return proposalDetail({ db, records, contract: contract(), recordsAtOnce: 200 }, id)
  }

  cells(recordIds: readonly string[]): Promise<readonly ProposedCell[]> {
    const { db, contract } = this.#parts
    return proposedCells({ db, contract: contract(), recordsAtOnce: 50 }, recordIds)
  }

  list(query: ProposalsQuery): Promise<readonly StoredProposal[]> {
    return this.#parts.db.query(proposalsBefore(query))
  }

  counts(): Promise<ProposalCounts> {
    return this.#parts.db.query(PROPOSAL_COUNTS)
  }
}

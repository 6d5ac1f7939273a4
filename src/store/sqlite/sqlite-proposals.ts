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
import { proposalDetail, proposedCells, type ProposalSource } from '../rules/proposal-detail.ts'
import type { Connection } from './database/connection.ts'
import { reading, readingOn } from './database/reading.ts'
import type { WriterClient } from './write/writer-client.ts'

interface Parts {
  readonly writer: WriterClient
  readonly db: Connection
  readonly records: ProposalSource['records']
  /** Returns the contract that the store follows now. */
  contract(): Contract
}

/** The proposals of a store in SQLite. */
export class SqliteProposals implements ProposalStore {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  propose({ change, ...proposal }: NewProposal): Promise<ProposalId> {
    return this.#parts.writer.call('propose', { ...proposal, change: JSON.stringify(change) })
  }

  async accept(decision: ProposalDecision): Promise<void> {
    await this.#parts.writer.call('acceptProposal', decision)
  }

  async reject(rejection: ProposalRejection): Promise<void> {
    await this.#parts.writer.call('rejectProposal', rejection)
  }

  async get(id: ProposalId): Promise<StoredProposal | null> {
    return reading(() => this.#parts.db.query(proposalById(id)))
  }

  async definition(id: ProposalId): Promise<ProposedDefinition | null> {
    return reading(() => this.#parts.db.query(proposedDefinition(id)))
  }

  detail(id: ProposalId): Promise<ProposalDetail | null> {
    const { db, records, contract } = this.#parts
    // One record may take as long as a turn may take.
    return readingOn(proposalDetail({ db, records, contract: contract(), recordsAtOnce: 1 }, id))
  }

  cells(recordIds: readonly string[]): Promise<readonly ProposedCell[]> {
    const { db, contract } = this.#parts
    return readingOn(proposedCells({ db, contract: contract(), recordsAtOnce: 50 }, recordIds))
  }

  async list(query: ProposalsQuery): Promise<readonly StoredProposal[]> {
    return reading(() => this.#parts.db.query(proposalsBefore(query)))
  }

  async counts(): Promise<ProposalCounts> {
    return reading(() => this.#parts.db.query(PROPOSAL_COUNTS))
  }
}

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
import { proposalById, PROPOSAL_COUNTS, proposalsBefore } from '../rows/proposal-queries.ts'
import type { Reader } from './read/reader.ts'
import { reading, readingOn } from './database/reading.ts'
import type { WriterClient } from './write/writer-client.ts'

/** The proposals of a store in SQLite. */
export class SqliteProposals implements ProposalStore {
  readonly #writer: WriterClient
  readonly #reader: Reader

  constructor(writer: WriterClient, reader: Reader) {
    this.#writer = writer
    this.#reader = reader
  }

  propose({ change, ...proposal }: NewProposal): Promise<ProposalId> {
    return this.#writer.call('propose', { ...proposal, change: JSON.stringify(change) })
  }

  async accept(decision: ProposalDecision): Promise<void> {
    await this.#writer.call('acceptProposal', decision)
  }

  async reject(rejection: ProposalRejection): Promise<void> {
    await this.#writer.call('rejectProposal', rejection)
  }

  async get(id: ProposalId): Promise<StoredProposal | null> {
    return reading(() => this.#reader.connection.ask(proposalById(id)))
  }

  detail(id: ProposalId): Promise<ProposalDetail | null> {
    return readingOn(this.#reader.proposalDetail(id))
  }

  async list(query: ProposalsQuery): Promise<readonly StoredProposal[]> {
    return reading(() => this.#reader.connection.ask(proposalsBefore(query)))
  }

  async counts(): Promise<ProposalCounts> {
    return reading(() => this.#reader.connection.ask(PROPOSAL_COUNTS))
  }
}

import type { ProposalAnswer, ProposalListAnswer, ProposalSummary, ProposeBody } from '../wire/proposals.ts'
import type { ActorOptions, CallOptions, Connection } from './connection.ts'

/** A write that is to wait for somebody's yes: either `records`, or the `ids` of those to be deleted. */
export type ProposedWrite = Omit<ProposeBody, 'actor'>

export interface ProposalPage {
  readonly state?: ProposalSummary['state'] | undefined
  readonly limit?: number | undefined
  /** A `next_cursor` of the same list. */
  readonly cursor?: string | null | undefined
}

/** `/api/proposals`. */
export class ProposalsClient {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  list(page: ProposalPage = {}, options?: CallOptions): Promise<ProposalListAnswer> {
    return this.#connection.get('/api/proposals', { ...page }, options)
  }

  /** A proposal, with what it would change. */
  get(id: string, options?: CallOptions): Promise<ProposalAnswer> {
    return this.#connection.get(pathOf(id), {}, options)
  }

  propose(write: ProposedWrite, options?: ActorOptions): Promise<ProposalSummary> {
    return this.#connection.writeAs('/api/proposals', write, options)
  }

  /** Writes what is proposed. Throws ApiError with status 409 where the data has moved since, or it is decided already. */
  accept(id: string, options?: ActorOptions): Promise<ProposalSummary> {
    return this.#connection.writeAs(`${pathOf(id)}/accept`, {}, options)
  }

  reject(id: string, reason: string | null = null, options?: ActorOptions): Promise<ProposalSummary> {
    return this.#connection.writeAs(`${pathOf(id)}/reject`, reason === null ? {} : { reason }, options)
  }
}

function pathOf(id: string): string {
  return `/api/proposals/${encodeURIComponent(id)}`
}

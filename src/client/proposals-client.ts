import type { ProposalPlanAnswer } from '../wire/definition/proposal-plan.ts'
import type { ProposalAnswer, ProposalListAnswer, ProposalSummary } from '../wire/records/proposals.ts'
import type { RecordAnswer } from '../wire/records/records.ts'
import type { ActorOptions, CallOptions, Connection } from './connection.ts'
import type { NewContract } from './definition-client.ts'
import type { RecordPatch } from './records-client.ts'

/** A change of the contract, or of derivation files alone. */
type ProposedDefinition = Omit<NewContract, 'note'> &
  Required<Pick<NewContract, 'text'> | Pick<NewContract, 'document'> | Pick<NewContract, 'derivations'>> & {
    readonly records?: never
    readonly ids?: never
  }

/** A change that waits until somebody accepts it: `records`, the `ids` of those to be deleted, or a change of the definition. */
export type ProposedWrite<R extends object = RecordAnswer> = (
  | { readonly records: readonly RecordPatch<R>[]; readonly ids?: never }
  | { readonly ids: readonly string[]; readonly records?: never }
  | ProposedDefinition
) & {
  /** A note for the person who decides. */
  readonly note?: string | undefined
}

export interface ProposalPage {
  readonly state?: ProposalSummary['state'] | undefined
  readonly limit?: number | undefined
  /** A `next_cursor` of the same list. */
  readonly cursor?: string | null | undefined
}

/** A part of a proposal: these fields of a record; all that wait when absent. */
export interface ProposalCells {
  readonly recordId: string
  readonly fields?: readonly string[] | undefined
}

export interface DecisionOptions extends ActorOptions {
  /** The parts that are decided, and the others wait; all that waits when absent. */
  readonly cells?: readonly ProposalCells[] | undefined
}

export interface AcceptOptions extends DecisionOptions {
  /** The numbers of values that a change of the definition may lose, by the names of removed fields. */
  readonly confirm?: Readonly<Record<string, number>> | undefined
}

/** `/api/proposals`. `R` is the type of the sheet's records. */
export class ProposalsClient<R extends object = RecordAnswer> {
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

  propose(write: ProposedWrite<R>, options?: ActorOptions): Promise<ProposalSummary> {
    return this.#connection.writeAs('/api/proposals', write, options)
  }

  /**
   * Writes what is proposed, or parts of it. Throws ApiError with status 409 where the data has moved since, or it is decided already, and 412 where a file
   * of a proposed definition has changed.
   */
  accept(id: string, options?: AcceptOptions): Promise<ProposalSummary> {
    const { confirm, cells, ...rest } = options ?? {}
    const body = { ...(confirm !== undefined && { confirm }), ...cellsOf(cells) }
    return this.#connection.writeAs(`${pathOf(id)}/accept`, body, rest)
  }

  /** The effect that accepting a proposed change of the definition would have now. Throws ApiError as `accept` does. */
  plan(id: string, options?: CallOptions): Promise<ProposalPlanAnswer> {
    return this.#connection.write('POST', `${pathOf(id)}/plan`, { ...options, body: {} })
  }

  reject(id: string, reason: string | null = null, options?: DecisionOptions): Promise<ProposalSummary> {
    const { cells, ...rest } = options ?? {}
    const body = { ...(reason !== null && { reason }), ...cellsOf(cells) }
    return this.#connection.writeAs(`${pathOf(id)}/reject`, body, rest)
  }
}

function cellsOf(cells: readonly ProposalCells[] | undefined): object {
  if (cells === undefined) return {}
  return { cells: cells.map(({ recordId, fields }) => ({ record_id: recordId, fields })) }
}

function pathOf(id: string): string {
  return `/api/proposals/${encodeURIComponent(id)}`
}

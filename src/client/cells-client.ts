import type { ProposedCellsAnswer } from '../wire/records/proposals.ts'
import type { ProvenanceEntryAnswer } from '../wire/records/provenance.ts'
import type { CellWritersAnswer, ReviewAnswer, ReviewListAnswer } from '../wire/records/reviews.ts'
import type { FailuresAnswer } from '../wire/runs/failures.ts'
import type { RevertAnswer } from '../wire/runs/revert.ts'
import type { CellExplanationAnswer, CellStatesAnswer } from '../wire/runs/status.ts'
import type { RecordSelection } from './records-client.ts'
import { jsonText, type ActorOptions, type CallOptions, type Connection } from './connection.ts'

/** The writers of values: patterns of actors, and ids of runs. */
export interface WrittenBy {
  readonly by?: readonly string[]
  readonly by_run?: readonly string[]
}

/** A record's value of a field. */
export interface Cell {
  readonly record_id: string
  readonly field: string
}

/** A cell, and the time until which its entries are read: a seq, or a time (ISO 8601 with offset); absent for all. */
export interface CellEntries extends Cell {
  readonly as_of?: number | string | undefined
}

/** The cells whose entries are read: one, or without a field all of a record. */
export interface HistorySelection extends Omit<CellEntries, 'field'> {
  readonly field?: string | undefined
}

/** A cell to review, and the value that was seen, if no other is meant. */
export interface ReviewedCell extends Cell {
  readonly value?: unknown
}

/** The reviews to list. */
export interface ReviewsSelection {
  readonly record_id?: string | undefined
  readonly field?: string | undefined
  readonly verdict?: 'approved' | 'flagged' | undefined
  /** Whether reviews that have ended are listed too. */
  readonly ended?: boolean | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/** States, explanations and provenance of cells. */
export class CellsClient {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** The states of the derived cells of records, by record id and target. */
  states(
    ids: readonly string[],
    targets: readonly string[] = [],
    options?: CallOptions,
  ): Promise<CellStatesAnswer> {
    return this.#connection.get('/api/cells', { ids, targets }, options)
  }

  /** The cells of records for which proposals wait, those of the newest proposal first. */
  proposed(ids: readonly string[], options?: CallOptions): Promise<ProposedCellsAnswer> {
    return this.#connection.get('/api/cells/proposed', { ids }, options)
  }

  /** The writers of the present values of records: of all, or of those that one of some actors or runs has written. */
  writers(
    ids: readonly string[],
    written: WrittenBy = {},
    options?: CallOptions,
  ): Promise<CellWritersAnswer> {
    return this.#connection.get('/api/cells/writers', { ids, ...written }, options)
  }

  /** Groups cells that are failed now by the reason of their failure. */
  failures(
    { where, filter }: Pick<RecordSelection, 'filter' | 'where'> = {},
    options?: CallOptions,
  ): Promise<FailuresAnswer> {
    return this.#connection.get('/api/failures', { filter, where: jsonText(where) }, options)
  }

  /** Explains a derived cell: its state, the changes since it was computed, and its failure. */
  explain({ record_id: id, field }: Cell, options?: CallOptions): Promise<CellExplanationAnswer> {
    const path = `/api/status/${encodeURIComponent(field)}/${encodeURIComponent(id)}`
    return this.#connection.get(path, {}, options)
  }

  /** The latest entry of a cell: who or what wrote the value that it has; null when nothing is known. */
  provenance(cell: CellEntries, options?: CallOptions): Promise<ProvenanceEntryAnswer | null> {
    return this.#connection.get('/api/provenance', { ...cell }, options)
  }

  /** All entries of a cell, or of a record, the oldest first, read page by page. */
  async history(cell: HistorySelection, options?: CallOptions): Promise<ProvenanceEntryAnswer[]> {
    const entries: ProvenanceEntryAnswer[] = []
    for await (const page of this.historyPages(cell, options)) entries.push(...page)
    return entries
  }

  /** The pages of the history of a cell, or of a record, one after another, the oldest entries first. */
  async *historyPages(
    cell: HistorySelection,
    options: CallOptions & { readonly limit?: number | undefined } = {},
  ): AsyncGenerator<readonly ProvenanceEntryAnswer[], void, undefined> {
    const { limit, signal } = options
    for (let cursor: string | null = null; ;) {
      const query = { ...cell, history: true, limit, cursor }
      const response = await this.#connection.request('GET', '/api/provenance', { query, signal })
      yield (await response.json()) as ProvenanceEntryAnswer[]
      cursor = nextCursorOf(response)
      if (cursor === null) return
    }
  }

  /** The reviews of cells, newest first, a page at a time. */
  reviews(query: ReviewsSelection = {}, options?: CallOptions): Promise<ReviewListAnswer> {
    return this.#connection.get('/api/reviews', { ...query }, options)
  }

  /**
   * Approves or flags the values of cells, all or none; null ends their reviews. A review ends when its cell gets another value.
   * Throws ApiError with status 409 where a cell has another `value` than the one given.
   */
  review(
    cells: readonly ReviewedCell[],
    verdict: 'approved' | 'flagged' | null,
    options: ActorOptions & { readonly note?: string | undefined } = {},
  ): Promise<ReviewAnswer> {
    const { note, ...call } = options
    const body = { cells, verdict, ...(note === undefined ? {} : { note }) }
    return this.#connection.writeAs('/api/reviews', body, call)
  }

  /** Undoes an entry of a cell. */
  revert(cell: Cell, seq: number, options?: ActorOptions): Promise<RevertAnswer> {
    return this.#connection.writeAs('/api/revert', { ...cell, seq }, options)
  }
}

/** The cursor in the address of the next page, which the header `Link` has; null when nothing follows. */
function nextCursorOf(response: Response): string | null {
  const [, next] = /<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? []
  return next === undefined ? null : new URL(next, 'http://localhost').searchParams.get('cursor')
}

import type { ProvenanceEntryAnswer } from '../wire/provenance.ts'
import type { RevertAnswer } from '../wire/revert.ts'
import type { CellExplanationAnswer, CellStatesAnswer } from '../wire/status.ts'
import type { ActorOptions, CallOptions, Connection } from './connection.ts'

/** A record's value of a field. */
export interface Cell {
  readonly record_id: string
  readonly field: string
}

/** Where the values of cells come from. */
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

  /** Why a derived cell is as it is: its state, what changed since, why it failed. */
  explain({ record_id: id, field }: Cell, options?: CallOptions): Promise<CellExplanationAnswer> {
    const path = `/api/status/${encodeURIComponent(field)}/${encodeURIComponent(id)}`
    return this.#connection.get(path, {}, options)
  }

  /** The latest entry of a cell: who or what wrote the value that it has; null when nothing is known. */
  provenance(cell: Cell, options?: CallOptions): Promise<ProvenanceEntryAnswer | null> {
    return this.#connection.get('/api/provenance', { ...cell }, options)
  }

  /** All entries of a cell, the oldest first. */
  history(cell: Cell, options?: CallOptions): Promise<ProvenanceEntryAnswer[]> {
    return this.#connection.get('/api/provenance', { ...cell, history: true }, options)
  }

  /** Undoes an entry of a cell. */
  revert(cell: Cell, seq: number, options?: ActorOptions): Promise<RevertAnswer> {
    return this.#connection.writeAs('/api/revert', { ...cell, seq }, options)
  }
}

import type { CheckpointAnswer, ConsistencyAnswer, ProofAnswer } from '../wire/records/log.ts'
import type { Cell } from './cells-client.ts'
import type { CallOptions, Connection } from './connection.ts'

/** `/api/log`: checkpoints of the log, and proofs. */
export class LogClient {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Returns the last checkpoint. */
  checkpoint(options?: CallOptions): Promise<CheckpointAnswer> {
    return this.#connection.get('/api/log/checkpoint', {}, options)
  }

  /** Makes a checkpoint of all lines, unless the last one is as good, and returns the last one. */
  makeCheckpoint(options?: CallOptions): Promise<CheckpointAnswer> {
    return this.#connection.write('POST', '/api/log/checkpoint', { ...options, body: {} })
  }

  /** Proves that an entry, or the latest entry of a cell, is in the log of the last checkpoint. */
  proof(of: { readonly seq: number } | Cell, options?: CallOptions): Promise<ProofAnswer> {
    return this.#connection.get('/api/log/proof', { ...of }, options)
  }

  /** Proves that the first `from` lines are the beginning of the first `to`, by default of those of the last checkpoint. */
  consistency(from: number, to?: number, options?: CallOptions): Promise<ConsistencyAnswer> {
    return this.#connection.get('/api/log/consistency', { from, to }, options)
  }
}

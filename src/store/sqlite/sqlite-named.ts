import type { Contract } from '../../contract/contract.ts'
import type { NamedStore, SavedNamed, StoredNamed } from '../named/named-store.ts'
import type { NamedKind } from '../rules/named/named-kinds.ts'
import { listNamed } from '../rules/named/saved-named.ts'
import { runSync } from '../rules/steps.ts'
import type { Connection } from './database/connection.ts'
import { reading } from './database/reading.ts'
import type { WriterClient } from './write/writer-client.ts'

interface Parts {
  readonly writer: WriterClient
  readonly db: Connection
  /** Returns the contract that the store follows now. */
  contract(): Contract
}

/** The views or the charts of a store in SQLite. */
export class SqliteNamed<State> implements NamedStore<State> {
  readonly #parts: Parts
  readonly #kind: NamedKind<State>

  constructor(kind: NamedKind<State>, parts: Parts) {
    this.#kind = kind
    this.#parts = parts
  }

  async list(): Promise<readonly StoredNamed<State>[]> {
    const { db, contract } = this.#parts
    return reading(() => runSync(listNamed(db, contract(), this.#kind)))
  }

  save(named: SavedNamed<State>): Promise<string> {
    return this.#parts.writer.call('saveNamed', { noun: this.#kind.noun, named })
  }

  async delete(id: string): Promise<void> {
    await this.#parts.writer.call('deleteNamed', { noun: this.#kind.noun, id })
  }
}

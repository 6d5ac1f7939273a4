import type { Contract } from '../../contract/contract.ts'
import type { NamedStore, SavedNamed, StoredNamed } from '../named/named-store.ts'
import type { NamedKind } from '../rules/named/named-kinds.ts'
import { deleteNamed, listNamed, saveNamed } from '../rules/named/saved-named.ts'
import { runAsync } from '../rules/steps.ts'
import type { Connection } from './database/connection.ts'
import type { Writer } from './write/writer.ts'

interface Parts {
  readonly writer: Pick<Writer, 'change'>
  readonly db: Connection
  /** Returns the contract that the store follows now. */
  contract(): Contract
}

/** The views or the charts of a store in PostgreSQL. */
export class PostgresNamed<State> implements NamedStore<State> {
  readonly #parts: Parts
  readonly #kind: NamedKind<State>

  constructor(kind: NamedKind<State>, parts: Parts) {
    this.#kind = kind
    this.#parts = parts
  }

  list(): Promise<readonly StoredNamed<State>[]> {
    const { db, contract } = this.#parts
    return runAsync(listNamed(db, contract(), this.#kind))
  }

  save(named: SavedNamed<State>): Promise<string> {
    return this.#parts.writer.change((change) => runAsync(saveNamed(change, this.#kind, named)))
  }

  delete(id: string): Promise<void> {
    return this.#parts.writer.change((change) => runAsync(deleteNamed(change, this.#kind, id)))
  }
}

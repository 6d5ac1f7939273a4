import type { Contract } from '../../contract/contract.ts'
import { runAsync } from '../rules/steps.ts'
import { deleteView, listViews, saveView } from '../rules/views/saved-views.ts'
import type { SavedView, StoredView, ViewStore } from '../stored-view.ts'
import type { Connection } from './database/connection.ts'
import type { Writer } from './write/writer.ts'

interface Parts {
  readonly writer: Pick<Writer, 'change'>
  readonly db: Connection
  /** Returns the contract that the store follows now. */
  contract(): Contract
}

/** The views of a store in PostgreSQL. */
export class PostgresViews implements ViewStore {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  list(): Promise<readonly StoredView[]> {
    const { db, contract } = this.#parts
    return runAsync(listViews(db, contract()))
  }

  save(view: SavedView): Promise<string> {
    return this.#parts.writer.change((change) => runAsync(saveView(change, view)))
  }

  delete(id: string): Promise<void> {
    return this.#parts.writer.change((change) => runAsync(deleteView(change, id)))
  }
}

import type { Contract } from '../../contract/contract.ts'
import { runSync } from '../rules/steps.ts'
import { listViews } from '../rules/views/saved-views.ts'
import type { SavedView, StoredView, ViewStore } from '../stored-view.ts'
import type { Connection } from './database/connection.ts'
import { reading } from './database/reading.ts'
import type { WriterClient } from './write/writer-client.ts'

interface Parts {
  readonly writer: WriterClient
  readonly db: Connection
  /** Returns the contract that the store follows now. */
  contract(): Contract
}

/** The views of a store in SQLite. */
export class SqliteViews implements ViewStore {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async list(): Promise<readonly StoredView[]> {
    const { db, contract } = this.#parts
    return reading(() => runSync(listViews(db, contract())))
  }

  save(view: SavedView): Promise<string> {
    return this.#parts.writer.call('saveView', view)
  }

  async delete(id: string): Promise<void> {
    await this.#parts.writer.call('deleteView', id)
  }
}

import type { RunStore } from '../../derivation/run-request.ts'
import type { CellCommit, CellOutcome, CellResult, WorkItem, WorkQuery } from '../../store/cell-work.ts'
import type { SheetStore } from '../../store/sheet-store.ts'
import type { ReceivedResponse } from '../../store/stored-responses.ts'
import { runStepsKey } from '../../derivation/plan/run-steps.ts'

/**
 * The store of a preview of one record: computing finds its cells missing, and gets the cache and the responses of the sheet. Results
 * of calls are stored for later runs, values of cells are only collected.
 */
export class PreviewStore implements RunStore {
  readonly results = new Map<string, CellResult['result']>()
  readonly received = new Map<string, ReceivedResponse>()
  readonly #store: SheetStore
  readonly #item: WorkItem

  constructor(store: SheetStore, item: WorkItem) {
    this.#store = store
    this.#item = item
  }

  get responses(): SheetStore['responses'] {
    return this.#store.responses
  }

  get formulas(): SheetStore['formulas'] {
    return this.#store.formulas
  }

  get queries(): SheetStore['queries'] {
    return this.#store.queries
  }

  get hosts(): SheetStore['hosts'] {
    return this.#store.hosts
  }

  status(): ReturnType<SheetStore['status']> {
    return this.#store.status()
  }

  async work({ after }: WorkQuery): Promise<readonly WorkItem[]> {
    return after === null || after < this.#item.key ? [this.#item] : []
  }

  cached(hashes: readonly string[]): ReturnType<SheetStore['cached']> {
    return this.#store.cached(hashes)
  }

  usage(key: string): ReturnType<SheetStore['usage']> {
    return this.#store.usage(key)
  }

  provenance(recordId: string, field: string, limit: number): ReturnType<SheetStore['provenance']> {
    return this.#store.provenance(recordId, field, limit)
  }

  async commitCells({
    cells,
    cache,
    responses = [],
    used,
    recorded = [],
    usage: counts,
    run,
  }: CellCommit): Promise<readonly CellOutcome[]> {
    // A preview is no run, whose counts are shown and pruned.
    const usage = counts?.filter(({ key }) => key !== runStepsKey(run))
    for (const { target, result } of cells) this.results.set(target, result)
    for (const response of responses) this.received.set(response.request, response)
    const stored = [cache, responses, used ?? [], usage ?? [], recorded]
    if (stored.some(({ length }) => length > 0)) {
      await this.#store.storeResults({
        cache,
        responses,
        recorded,
        ...(used !== undefined && { used }),
        ...(usage !== undefined && { usage }),
      })
    }
    return cells.map(() => ({ outcome: 'stored' }))
  }
}

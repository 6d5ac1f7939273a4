import type { RecordKey } from '../../store/cell-work.ts'
import type { Derivation } from '../definition/derivation-kind.ts'
import type { Planner } from '../plan/planner.ts'

/**
 * Cells that a run has not brought up to date though they have work, by field: they failed, no call was left for them,
 * or an input of theirs is one of these. Nothing is computed from them (D27).
 */
export class UnusableCells {
  readonly #records = new Map<string, Set<RecordKey>>()
  /** Those of them that only bounds of the run are to blame for. */
  readonly #left = new Map<string, Set<RecordKey>>()

  /** Only these fields are remembered; of others nobody will ask. */
  constructor(fields: Iterable<string>) {
    for (const field of fields) {
      this.#records.set(field, new Set())
      this.#left.set(field, new Set())
    }
  }

  /** `isLeft`: whether only bounds of the run are to blame. */
  add(field: string, record: RecordKey, isLeft = false): void {
    this.#records.get(field)?.add(record)
    if (isLeft) this.#left.get(field)?.add(record)
  }

  isLeft(field: string, record: RecordKey): boolean {
    return this.#left.get(field)?.has(record) ?? false
  }

  has(field: string, record: RecordKey): boolean {
    return this.#records.get(field)?.has(record) ?? false
  }

  /** Adds the cells of earlier derivations that the run could not bring up to date, as the store has them, and what is computed from them. */
  async addFailed(planner: Planner, earlier: readonly Derivation[]): Promise<void> {
    for (const derivation of earlier) {
      if (planner.targets(derivation).length === 0) continue
      for await (const items of planner.work(derivation, { ready: false })) {
        for (const item of items) {
          const isLeft = derivation.inputs.some((input) => this.has(input, item.key))
          for (const { target, state } of planner.cells(item)) {
            // One that was to be overwritten and still is as it was could not be computed either.
            if (isLeft || state === 'failed' || state === 'overridden') this.add(target, item.key)
          }
        }
      }
    }
  }
}
